import { z } from 'zod';
import type { Asked, HeldCall, Refusal, Turn, TurnEnd } from '../../../machines/channels/turn.ts';
import { parseJson } from '../../../machines/json.ts';
import { keptStart } from '../../../machines/text.ts';
import { eventsOf } from '../../events-of.ts';
import { type Standing, standingOf } from './task-standing.ts';

/** Receives the state changes of a task. */
export interface TaskEar {
  held(call: HeldCall): void;
  resumed(): void;
  ended(end: TurnEnd): void;
}

export interface AgentSurfaceOptions {
  url: string;
  /** The authentication token of conversations. */
  token: string;
  fetch: typeof globalThis.fetch;
}

/** JSON-RPC error code for a message that the agent refuses, such as one that a guardrail denies. */
const invalidParams = -32_602;

const told = z.object({
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

/** Maximum length of the header that names the requester, in characters (docs/contract/correlation.md). */
const longestHeader = 256;

const refusalOf: Record<number, Refusal> = {
  401: 'unauthorized',
  402: 'admission',
  403: 'unauthorized',
  409: 'running',
  413: 'tooLong',
  429: 'limited',
};

/**
 * Client for the agent's own HTTP surface, used by conversations. A thread id is both the task id and the context id.
 */
export class AgentSurface {
  readonly #options: AgentSurfaceOptions;

  constructor(options: AgentSurfaceOptions) {
    this.#options = options;
  }

  /**
   * Sends a message to the agent, unless the agent already has it, and waits for the end of its run until the signal
   * aborts; the task continues. Rejects when the agent is unreachable or the signal aborts.
   */
  async ask(turn: Turn, signal: AbortSignal): Promise<Asked> {
    const { message, isLate } = turn;
    const found = await this.#call(`/tasks/${message.thread}`, message, { signal });
    if (found.status !== 200 && found.status !== 404) return refused(found, await bodyOf(found));
    const standing = await this.#standing(found, turn);
    if (standing.kind === 'ended') return standing;
    if (standing.kind !== 'unknown') return { kind: 'running' };
    if (isLate) return { kind: 'ended', end: { kind: 'gone' } };
    return this.#send(message, signal);
  }

  /** Follows the task of a message until its stream ends. Rejects like `ask`. */
  async follow({ message, heldId }: Turn, ear: TaskEar, signal: AbortSignal): Promise<void> {
    const response = await this.#call(`/tasks/${message.thread}/events`, message, { signal });
    const { status, body } = response;
    if (status !== 200 || body === null) return body?.cancel();
    let wasHeld = heldId !== null;
    const hear = hearing({
      ...bound(ear),
      held: (call) => {
        wasHeld = true;
        ear.held(call);
      },
    });
    for await (const { event, data } of eventsOf(body)) {
      if (event === 'progress') continue;
      hear(standingOf(JSON.parse(data), messageIdOf(message), wasHeld));
    }
  }

  /**
   * Adds a message to a task that waits for an approval. Resolves with `null` once the message is stored, with the
   * agent's reason for refusing it, or with `notWaiting`. Rejects like `ask`.
   */
  async tell(message: Turn['message'], signal: AbortSignal): Promise<string | null> {
    const { thread, text } = message;
    const said = {
      kind: 'message',
      role: 'user',
      messageId: messageIdOf(message),
      taskId: thread,
      parts: [{ kind: 'text', text }],
    };
    const response = await this.#call('/', message, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: { message: said },
      }),
      signal,
    });
    const { error } = told.parse(await bodyOf(response));
    if (error === undefined) return null;
    return error.code === invalidParams ? error.message : 'notWaiting';
  }

  /** Cancels the task of a thread and resolves with whether the task has ended. Rejects like `ask`. */
  async cancel(message: Turn['message'], signal: AbortSignal): Promise<boolean> {
    const response = await this.#call(`/tasks/${message.thread}/cancel`, message, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ reason: 'external_signal' }),
      signal,
    });
    await response.body?.cancel();
    return response.status === 200;
  }

  async #send(message: Turn['message'], signal: AbortSignal): Promise<Asked> {
    const { thread, text } = message;
    const said = {
      role: 'user',
      messageId: messageIdOf(message),
      parts: [{ kind: 'text', text }],
    };
    const { id } = message.from;
    const response = await this.#call('/tasks/send', message, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(isHeader(id) && { 'X-Invocation-Caller': id }),
      },
      body: JSON.stringify({ task: { id: thread, contextId: thread, message: said } }),
      signal,
    });
    const body = await bodyOf(response);
    if (response.status !== 200) return refused(response, body);
    const standing = standingOf(body, messageIdOf(message), true);
    return standing.kind === 'ended' ? standing : { kind: 'running' };
  }

  async #standing(response: Response, { message, heldId }: Turn): Promise<Standing> {
    const body = await bodyOf(response);
    if (response.status === 404) return { kind: 'unknown' };
    return standingOf(body, messageIdOf(message), heldId !== null);
  }

  #call(path: string, { from }: Turn['message'], init: RequestInit): Promise<Response> {
    const { url, token, fetch } = this.#options;
    const headers = { ...init.headers, ...asking(from), Authorization: `Bearer ${token}` };
    return fetch(new URL(path, url), { ...init, headers, redirect: 'error' });
  }
}

/** Binds the methods of an ear so that it can be spread. */
function bound(ear: TaskEar): TaskEar {
  return {
    held: (call) => ear.held(call),
    resumed: () => ear.resumed(),
    ended: (end) => ear.ended(end),
  };
}

/** Returns the agent's id for a message; unique within a thread. */
function messageIdOf({ adapter, id }: Turn['message']): string {
  return keptStart(`${adapter}:${id}`, longestHeader);
}

/** Returns the headers that name the requester; omits values that are invalid in a header. */
function asking({ id, email }: Turn['message']['from']): Record<string, string> {
  const words = [id, email ?? ''].filter(isHeader);
  return words.length > 0 ? { 'X-Service-On-Behalf-Of': words.join(' ') } : {};
}

function isHeader(value: string): boolean {
  return value.length <= longestHeader && /^[\x21-\x7e]+$/.test(value);
}

/** Reports each event once, even if the stream repeats it. */
function hearing(ear: TaskEar): (standing: Standing) => void {
  let heldId: string | null = null;
  return (standing) => {
    if (standing.kind === 'ended') ear.ended(standing.end);
    else if (standing.kind === 'held' && standing.call.id !== heldId) {
      heldId = standing.call.id;
      ear.held(standing.call);
    } else if (standing.kind === 'working' && heldId !== null) {
      heldId = null;
      ear.resumed();
    }
  };
}

/** A daemon that shuts down names the task in its 503: the task resumes, or is abandoned, after the restart. */
function refused({ status, headers }: Response, body: unknown): Asked {
  const { error, task_id: taskId } = Object(body) as { error?: unknown; task_id?: unknown };
  if (status === 503 && typeof taskId === 'string') return { kind: 'running' };
  if (status === 401 && error === 'step_up_required') {
    return { kind: 'refused', refusal: 'assurance', retryAfter: null };
  }
  const refusal = refusalOf[status] ?? (status >= 500 ? 'unavailable' : 'refused');
  const seconds = Number.parseInt(headers.get('Retry-After') ?? '', 10);
  return {
    kind: 'refused',
    refusal,
    retryAfter: Number.isFinite(seconds) ? seconds * 1_000 : null,
  };
}

/** Parses a body as JSON, or returns it as text. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const value = parseJson(text);
  return value === undefined ? text : value;
}
