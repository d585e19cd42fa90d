import type { TimelineEntryJson } from '../../../../http/wire/dashboard/task-detail-json.ts';
import { isFinal } from '../../../../machines/domain/task.ts';
import type { CallStory } from '../task/waterfall.ts';

/** A part of an agent's turn, in chronological order. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'tool'; tool: string; running: boolean; recalled?: RecalledCall };

/** A call that had ended before the page loaded it. */
export interface RecalledCall {
  story: CallStory;
  /** The event that ended its wait for a person; `null` if it was not held. */
  end: TimelineEntryJson | null;
}

/** One user message, and the agent's response. */
export interface Turn {
  /** `null` for unsolicited output of the agent. */
  asked: string | null;
  /** ID of that message, if the session contains it. */
  message?: string | null;
  parts: Part[];
  /** `null` until the agent has named it. */
  task: string | null;
  /**
   * The state reported by the agent: `working`, `deferred`, `completed`, `failed`, `canceled`; `sent` before the first
   * report.
   */
  state: string;
  /** Text of its status if there is no answer. */
  note: string;
}

/** The task fields that the page reads from the agent. */
export interface ToldTask {
  id: string;
  session: string;
  state: string;
  note: string;
  /** The last user message. */
  asked: string | null;
  answer: string | null;
}

/** A progress event of a task. */
export interface ToldProgress {
  phase: string;
  tool?: string;
  text?: string;
}

/** Creates the turn for a message being sent. */
export function newTurn(asked: string | null): Turn {
  return { asked, parts: [], task: null, state: 'sent', note: '' };
}

/** Adds progress to a turn; text is appended to the current part. */
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

/** Removes a turn's trailing text that is not in its task yet. */
export function withoutUnfinished(turn: Turn): Turn {
  return turn.parts.at(-1)?.kind === 'text' ? { ...turn, parts: turn.parts.slice(0, -1) } : turn;
}

/** Applies the agent's report of the task; its answer replaces the streamed parts. */
export function withTask(turn: Turn, task: ToldTask): Turn {
  const told = { ...turn, task: task.id, state: task.state, asked: turn.asked ?? task.asked };
  if (!isFinal(task.state)) return told;
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

/** Parses the agent's JSON of a task; `null` if it is invalid. */
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

/** Groups a session's messages into turns. */
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

/** Returns the text of a message; other parts are shown as JSON. */
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
