import { utf8Size } from '../utf8-size.ts';
import type { SaidPart, SaidTurn } from './task.ts';
import type { Thought } from './task-events.ts';
import type { TaskContext } from './task-input.ts';
import { turnsOf } from './turns-of.ts';

/** How much of what the models of one run said beside their calls is kept, in bytes of its JSON. */
const saidBound = 1024 * 1024;

/** Returns how many exchanges the model was told of before its last turn. */
export function toldBefore({ said }: Pick<TaskContext, 'said'>): number {
  return said.at(-1)?.after ?? 0;
}

/** Returns what the models of a run have said with a further turn; what they thought in older ones goes once it is too much. */
export function withTurn({ said, exchanges }: TaskContext, thought: Thought): SaidTurn[] {
  const { provider, model, endpoint, outcome } = thought;
  const parts = outcome.kind === 'said' ? partsOf(outcome) : [];
  const turn = {
    after: exchanges.length,
    by: { provider, model, ...(endpoint === undefined ? {} : { endpoint }) },
    parts,
  };
  let bytes = sizeOf(turn);
  const older = said.toReversed().map((one) => {
    bytes += sizeOf(one);
    return bytes > saidBound ? { ...one, parts: [] } : one;
  });
  return [...older.toReversed(), turn];
}

/** Returns how many turns at the end of a run came to nothing but errors. */
export function failedTurnsAtEnd({ exchanges, said }: TaskContext): number {
  const turns = turnsOf(exchanges, said).toReversed();
  const good = turns.findIndex((turn) => turn.exchanges.some(({ failed }) => failed !== true));
  return good === -1 ? turns.length : good;
}

type Said = Extract<Thought['outcome'], { kind: 'said' }>;

/** A model that tells nothing of its parts has said its text, and then asked for its calls. */
function partsOf({ text, calls, parts }: Said): SaidPart[] {
  if (parts !== undefined) return parts;
  const asked = calls.map(() => ({ kind: 'call' }) as const);
  return text === '' ? asked : [{ kind: 'text', text }, ...asked];
}

function sizeOf({ parts }: SaidTurn): number {
  return utf8Size(JSON.stringify(parts));
}
