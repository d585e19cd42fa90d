import type { SaidPart, SaidTurn } from '../domain/task.ts';
import { utf8Size } from '../utf8-size.ts';
import type { Thought } from './task-events.ts';
import type { TaskContext } from './task-input.ts';
import { turnsOf } from './turns-of.ts';

/** Maximum size in bytes (as JSON) of a run's stored model output other than calls. */
const saidBound = 1024 * 1024;

/** Returns the number of exchanges sent to the model before its last turn. */
export function toldBefore({ said }: Pick<TaskContext, 'said'>): number {
  return said.at(-1)?.after ?? 0;
}

/** Adds a turn to a run's model output. Drops older turns' reasoning above the size limit. */
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

/** Returns the number of turns at the end of a run that produced only errors. */
export function failedTurnsAtEnd({ exchanges, said }: TaskContext): number {
  const turns = turnsOf(exchanges, said).toReversed();
  const good = turns.findIndex((turn) => turn.exchanges.some(({ failed }) => failed !== true));
  return good === -1 ? turns.length : good;
}

type Said = Extract<Thought['outcome'], { kind: 'said' }>;

/** For a model without part information, assumes its text followed by its calls. */
function partsOf({ text, calls, parts }: Said): SaidPart[] {
  if (parts !== undefined) return parts;
  const asked = calls.map(() => ({ kind: 'call' }) as const);
  return text === '' ? asked : [{ kind: 'text', text }, ...asked];
}

function sizeOf({ parts }: SaidTurn): number {
  return utf8Size(JSON.stringify(parts));
}
