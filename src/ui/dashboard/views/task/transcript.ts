import type { TimelineEntryJson } from '../../../../http/wire/dashboard/task-detail-json.ts';

/** One line of what was said and done, oldest first. `stop` is the one at which it was known. All of it is text of others. */
export type Said = { stop: number; at: string | null } & (
  | { kind: 'message'; role: 'user' | 'agent'; text: string }
  | { kind: 'turn'; model: string | null; text: string | null; calls: SaidCall[] }
  | { kind: 'call'; tool: string; args: string | null }
  | { kind: 'result'; tool: string; result: string | null; error: string | null }
);

/** A call as the model asked for it; `args` is JSON, `null` when it was not kept. */
export interface SaidCall {
  tool: string;
  args: string | null;
}

interface Logged {
  /** The agent's own JSON of the task. */
  task: unknown;
  timeline: readonly Pick<TimelineEntryJson, 'at' | 'event' | 'fields'>[];
}

/**
 * Tells what was said in a task and what its tools were given and returned, as far as that was kept. Messages carry no
 * time, so each stands at the event of the log that tells of it; one that none tells of stands where the next one does,
 * so that it is never shown before it was said.
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
    // Words without a call are the answer, which stands among the messages.
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

/** Reads what the model said from the messages that were kept of its turn; a text that was cut is no JSON any more. */
function answerIn(messages: unknown): { text: string | null; calls: SaidCall[] } {
  const said: unknown = Array.isArray(parsed(messages))
    ? (parsed(messages) as unknown[]).at(-1)
    : null;
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

function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? (JSON.parse(text) as unknown) : null;
  } catch {
    return null;
  }
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

/** Finds the event of each message, from the newest on, as the oldest ones may not be kept. */
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
