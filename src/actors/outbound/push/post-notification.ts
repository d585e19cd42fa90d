import type { Task } from '../../../machines/domain/task.ts';
import type { EgressScope, ScopedOutbound } from '../../ports/egress.ts';
import type { PushNotification, PushTarget } from '../../ports/push.ts';

export interface PostPorts {
  /** Converts a task to the format of an A2A version. */
  write: (task: Task, version: string) => Promise<PushNotification>;
  egress: ScopedOutbound;
}

/** Timeout of a receiver, in milliseconds. */
const patience = 10_000;

/** Posts the state of a task to a receiver. Rejects if the receiver does not accept it. */
export async function postNotification(
  target: PushTarget,
  task: Task,
  { write, egress, signal }: PostPorts & { signal: AbortSignal },
): Promise<void> {
  const { body, contentType } = await write(task, target.version);
  const response = await egress.within(scopeOf(target), () =>
    egress.fetch(target.url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
      headers: { 'Content-Type': contentType, ...authentication(target) },
      body,
    }),
  );
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
}

/** Returns the scope of a task: a caller named the receiver, so it is checked like a tool's request. */
export function scopeOf({ taskId }: PushTarget): EgressScope {
  return { taskId, correlationId: null, tags: {} };
}

function authentication({ token, authentication: auth }: PushTarget): Record<string, string> {
  return {
    ...(auth?.credentials ? { Authorization: `${auth.scheme} ${auth.credentials}` } : {}),
    ...(token === '' ? {} : { 'X-A2A-Notification-Token': token }),
  };
}
