import type { TimelineEntryJson } from '../../../../http/wire/dashboard/task-detail-json.ts';
import type { CallStory } from '../task/waterfall.ts';

/** A piece of what an agent did in a turn, in the order in which it happened. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'tool'; tool: string; running: boolean; recalled?: RecalledCall };

/** A call that was over before the page came to it. */
export interface RecalledCall {
  story: CallStory;
  /** What ended its wait for a person; `null` where it did not wait. */
  end: TimelineEntryJson | null;
}

/** One message of a person, and what the agent made of it. */
export interface Turn {
  /** `null` for what the agent said of itself. */
  asked: string | null;
  /** Id of that message, where the session tells it. */
  message?: string | null;
  parts: Part[];
  /** `null` until the agent has said it. */
  task: string | null;
  /** As the agent tells it: `working`, `deferred`, `completed`, `failed`, `canceled`; `sent` before. */
  state: string;
  /** Text of its status where it has come to no answer. */
  note: string;
}

/** What the page reads of a task as the agent tells it. */
export interface ToldTask {
  id: string;
  session: string;
  state: string;
  note: string;
  /** The last message of a person. */
  asked: string | null;
  answer: string | null;
}

/** Something that a task does. */
export interface ToldProgress {
  phase: string;
  tool?: string;
  text?: string;
}

const ends: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled']);

/** Returns whether a task of this state goes on no more. */
export function isOver(state: string): boolean {
  return ends.has(state);
}

/** A message that is on its way. */
export function newTurn(asked: string | null): Turn {
  return { asked, parts: [], task: null, state: 'sent', note: '' };
}

/** Adds a step to a turn: text goes on in the piece that is being written. */
export function withProgress(turn: Turn, { phase, tool = '', text = '' }: ToldProgress): Turn {
  const last = turn.parts.at(-1);
  if (phase === 'token') {
    const part: Part = { kind: 'text', text: last?.kind === 'text' ? last.text + text : text };
    return {
      ...turn,
      parts: [...(last?.kind === 'text' ? turn.parts.slice(0, -1) : turn.parts), part],
    };
  }
  if (phase === 'tool_start') {
    return { ...turn, parts: [...turn.parts, { kind: 'tool', tool, running: true }] };
  }
  if (phase !== 'tool_end') return turn;
  const open = turn.parts.findLastIndex(
    (part) => part.kind === 'tool' && part.running && part.tool === tool,
  );
  if (open === -1) return turn;
  return { ...turn, parts: turn.parts.with(open, { kind: 'tool', tool, running: false }) };
}

/** Leaves out the words at the end of a turn, which its task has not come to yet. */
export function withoutUnfinished(turn: Turn): Turn {
  return turn.parts.at(-1)?.kind === 'text' ? { ...turn, parts: turn.parts.slice(0, -1) } : turn;
}

/** Takes in what the agent says of the task; its answer takes the place of the pieces that were streamed of it. */
export function withTask(turn: Turn, task: ToldTask): Turn {
  const told = { ...turn, task: task.id, state: task.state, asked: turn.asked ?? task.asked };
  if (!isOver(task.state)) return told;
  const parts = turn.parts.map(
    (part): Part => (part.kind === 'tool' ? { ...part, running: false } : part),
  );
  const answered = parts.findLastIndex(({ kind }) => kind === 'tool') + 1;
  if (task.answer !== null) {
    return {
      ...told,
      note: '',
      parts: [...parts.slice(0, answered), { kind: 'text', text: task.answer }],
    };
  }
  return { ...told, note: task.note, parts };
}

/** Reads a task of the agent's own JSON; `null` when it is none. */
export function readToldTask(json: unknown): ToldTask | null {
  const { id, contextId, status, artifacts, history } = objectOf(json);
  if (typeof id !== 'string' || typeof contextId !== 'string') return null;
  const { state, message } = objectOf(status);
  const said = listOf(history).map(readMessage);
  const answer = listOf(artifacts)
    .map((artifact) => textOf(objectOf(artifact)['parts']))
    .join('\n');
  return {
    id,
    session: contextId,
    state: state === 'input-required' ? 'deferred' : String(state),
    note: textOf(objectOf(message)['parts']),
    asked: said.findLast(({ mine }) => mine)?.text ?? null,
    answer: answer === '' ? null : answer,
  };
}

/** Puts the messages of a session into turns. */
export function turnsOf(messages: unknown): Turn[] {
  const turns: Turn[] = [];
  for (const { mine, text, task, message } of listOf(messages).map(readMessage)) {
    const last = turns.at(-1);
    if (mine) turns.push({ ...newTurn(text), message, task, state: 'completed' });
    else if (last === undefined) {
      turns.push({ ...newTurn(null), task, state: 'completed', parts: [{ kind: 'text', text }] });
    } else {
      turns[turns.length - 1] = { ...last, parts: [...last.parts, { kind: 'text', text }] };
    }
  }
  return turns;
}

function readMessage(json: unknown): {
  mine: boolean;
  text: string;
  task: string | null;
  message: string | null;
} {
  const { role, parts, taskId, messageId } = objectOf(json);
  return {
    mine: role === 'user',
    text: textOf(parts),
    task: typeof taskId === 'string' ? taskId : null,
    message: typeof messageId === 'string' ? messageId : null,
  };
}

/** The text of a message; what is no text is shown as JSON. */
function textOf(parts: unknown): string {
  return listOf(parts)
    .map((part) => {
      const { text, data } = objectOf(part);
      if (typeof text === 'string') return text;
      return data === undefined ? '' : `\`\`\`json\n${JSON.stringify(data, null, 2)}\n\`\`\``;
    })
    .filter((text) => text !== '')
    .join('\n\n');
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
