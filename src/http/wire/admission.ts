import { z } from 'zod';
import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import type { AdmissionVerdict } from '../../machines/admission/admission-answer.ts';
import { retryAfter } from '../../machines/admission/retry-after.ts';
import { isJsonObject } from '../../machines/json.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { fieldOf } from './field-of.ts';
import { Problem } from './problem.ts';

/** The body of a denial on REST, always with all keys (docs/contract/admission.md). */
export const admissionDenied = z
  .object({
    error: z.literal('admission_denied'),
    code: z.literal('admission_denied'),
    reason: z.string(),
    scope: z.string(),
    window: z.string(),
    reset_at: z.string().nullable(),
  })
  .meta({ id: 'AdmissionDenied' });

/** An invocation that a request would start. */
export interface Invocation {
  /** The task ID, if the request names one. */
  taskId: string | null;
}

/** Returns the invocation that a body would start; `null` if it starts none. */
export type InvocationReader = (body: unknown) => Invocation | null;

/** Methods that start an invocation, each with a function that reads the task it names (docs/contract/admission.md). */
const startingMethods: ReadonlyMap<string, (params: unknown) => unknown> = new Map([
  ['tasks/send', namedInSend],
  ['tasks/sendSubscribe', namedInSend],
  ['message/send', namedInMessage],
  ['message/stream', namedInMessage],
  ['SendMessage', namedInMessage],
  ['SendStreamingMessage', namedInMessage],
]);

/** Reads the body of `POST /tasks/send` and `POST /tasks/sendSubscribe`, which always start an invocation. */
export function sentInvocation(body: unknown): Invocation {
  return invocationOf(namedInSend(body));
}

/** A request for a hold, which always starts an invocation. */
export function heldInvocation(): Invocation {
  return { taskId: null };
}

/** Reads a JSON-RPC request, which starts an invocation for some methods. A request without an ID starts none. */
export function calledInvocation(body: unknown): Invocation | null {
  const method = fieldOf(body, 'method');
  const named = typeof method === 'string' ? startingMethods.get(method) : undefined;
  const isRun = fieldOf(body, 'id') !== undefined;
  return named === undefined || !isRun ? null : invocationOf(named(fieldOf(body, 'params')));
}

/** Reads an MCP message. A tool call starts an invocation, except for `task_result` if that waits for a call. */
export function mcpInvocation(body: unknown, hasTaskResult: boolean): Invocation | null {
  if (fieldOf(body, 'method') !== 'tools/call' || fieldOf(body, 'id') === undefined) return null;
  const params = fieldOf(body, 'params');
  if (hasTaskResult && fieldOf(params, 'name') === 'task_result') return null;
  return invocationOf(fieldOf(fieldOf(params, '_meta'), 'task_id'));
}

/** Reads the body of a send over A2A's REST surfaces, which always starts an invocation. */
export function messageInvocation(body: unknown): Invocation {
  return invocationOf(namedInMessage(body));
}

/** Converts a denial to a Problem: 402 on every transport. */
export function denialProblem(verdict: AdmissionVerdict, now: number): Problem {
  const { reason, scope, window, resetAt } = verdict;
  const seconds = retryAfter(resetAt, now);
  const error = 'admission_denied';
  const more = { reason, scope, window, reset_at: resetAt };
  return new Problem(
    error,
    error,
    more,
    seconds === null ? {} : { 'Retry-After': String(seconds) },
  );
}

/** Converts a denial to an audit event (docs/contract/admission.md). */
export function denialEvent(
  { reason, scope, window, resetAt, cached }: AdmissionVerdict,
  envelope: Omit<AuditEvent, 'event' | 'fields'>,
): AuditEvent {
  return {
    ...envelope,
    event: 'task_admission_denied',
    fields: { reason, scope, window, reset_at: resetAt, cached },
  };
}

function invocationOf(id: unknown): Invocation {
  return { taskId: isTaskId(id) ? id : null };
}

function namedInSend(params: unknown): unknown {
  const task = fieldOf(params, 'task');
  return fieldOf(isJsonObject(task) ? task : params, 'id');
}

function namedInMessage(params: unknown): unknown {
  return fieldOf(fieldOf(params, 'message'), 'taskId');
}
