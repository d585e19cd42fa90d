import type { TimelineEntryJson } from '../../../../http/wire/dashboard/task-detail-json.ts';
import { parseJson } from '../../../../machines/json.ts';

/**
 * One entry of the transcript, oldest first. `stop` is the stop at which it was known. All of its text is untrusted.
 */
export type Said = { stop: number; at: string | null } & (
  | { kind: 'message'; role: 'user' | 'agent'; text: string }
  | { kind: 'turn'; model: string | null; text: string | null; calls: SaidCall[] }
  | { kind: 'call'; tool: string; args: string | null }
  | { kind: 'result'; tool: string; result: string | null; error: string | null }
);

/** A call as requested by the model; `args` is JSON, `null` if not recorded. */
export interface SaidCall {
  tool: string;
  args: string | null;
}

interface Logged {
  /** The agent's raw JSON of the task. */
  task: unknown;
  timeline: readonly Pick<TimelineEntryJson, 'at' | 'event' | 'fields'>[];
}

/**
 * Builds the transcript of a task: its messages, and its tools' input and output, as far as they were recorded.
 * Messages have no time, so each is placed at its log event. A message without an event is placed at the next message's
 * event, so that it is never shown too early.
 *
 * @param stopOf the stop of each event of the timeline
 */
export function transcriptOf(
  { task, timeline }: Logged,
  stopOf: readonly number[],
  last: number,
): Said[] {
  const messages = messagesOf(task);
  const events = eventsOfMessages(messages, timeline);
  const said: Said[] = [];
  let next = 0;
  const speak = (until: number): void => {
    for (; next < messages.length && (events[next] ?? timeline.length) <= until; next += 1) {
      const message = messages[next];
      const event = events[next] ?? timeline.length;
      const isRequest = timeline.length === 0 && next === 0;
      const stop = isRequest ? 0 : (stopOf[event] ?? last);
      if (message !== undefined)
        said.push({ stop, at: timeline[event]?.at ?? null, kind: 'message', ...message });
    }
  };
  for (const [index, entry] of timeline.entries()) {
    speak(index);
    const words = saidOf(entry);
    if (words !== null) said.push({ stop: stopOf[index] ?? last, at: entry.at, ...words });
  }
  speak(timeline.length);
  return said;
}

type Words = Said extends infer One ? (One extends Said ? Omit<One, 'stop' | 'at'> : never) : never;

function saidOf({ event, fields }: Logged['timeline'][number]): Words | null {
  if (event === 'llm_call') {
    const { text, calls } = answerIn(fields['messages']);
    // Text without a call is the answer, which is among the messages.
    return {
      kind: 'turn',
      model: textOf(fields['model']),
      text: calls.length === 0 ? null : text,
      calls,
    };
  }
  if (event !== 'tool_exec') return null;
  const tool = textOf(fields['tool']) ?? '';
  if (fields['phase'] === 'start') return { kind: 'call', tool, args: textOf(fields['args']) };
  return {
    kind: 'result',
    tool,
    result: textOf(fields['result']),
    error: textOf(fields['error']),
  };
}

/** Reads the model's output from the recorded messages of its turn; a truncated text is not valid JSON. */
function answerIn(messages: unknown): { text: string | null; calls: SaidCall[] } {
  const turns = typeof messages === 'string' ? parseJson(messages) : null;
  const said = Array.isArray(turns) ? turns.at(-1) : null;
  const { role, text, calls } = Object(said) as Record<string, unknown>;
  if (role !== 'agent') return { text: null, calls: [] };
  return {
    text: textOf(text),
    calls: (Array.isArray(calls) ? (calls as unknown[]) : []).map((call) => {
      const { tool, args } = Object(call) as Record<string, unknown>;
      return { tool: textOf(tool) ?? '', args: args === undefined ? null : JSON.stringify(args) };
    }),
  };
}

interface Message {
  role: 'user' | 'agent';
  text: string;
}

function messagesOf(task: unknown): Message[] {
  const { history } = Object(task) as { history?: unknown };
  return (Array.isArray(history) ? (history as unknown[]) : []).map((message) => {
    const { role, parts } = Object(message) as { role?: unknown; parts?: unknown };
    const all: unknown[] = Array.isArray(parts) ? parts : [];
    return { role: role === 'agent' ? 'agent' : 'user', text: all.map(partText).join('\n') };
  });
}

function partText(part: unknown): string {
  const { kind, text, data, file } = Object(part) as Record<string, unknown>;
  if (kind === 'text') return textOf(text) ?? '';
  if (kind === 'data') return JSON.stringify(data) ?? '';
  const { name, uri } = Object(file) as Record<string, unknown>;
  return `[file ${textOf(name) ?? textOf(uri) ?? ''}]`;
}

/** Finds the event of each message, newest first, because the oldest events may not be stored. */
function eventsOfMessages(messages: readonly Message[], timeline: Logged['timeline']): number[] {
  const found: number[] = messages.map(() => timeline.length);
  let before = timeline.length;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const role = messages[index]?.role;
    const at = timeline.findLastIndex(
      (entry, place) => place < before && speakerOf(entry) === role,
    );
    if (at >= 0) before = at;
    found[index] = at >= 0 ? at : (found[index + 1] ?? timeline.length);
  }
  return found;
}

function speakerOf({ event, fields }: Logged['timeline'][number]): Message['role'] | null {
  if (event === 'session_start' || event === 'message_received') return 'user';
  return event === 'session_end' && fields['state'] === 'completed' ? 'agent' : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
