import type { Task } from '../../../machines/task/task.ts';
import type { EgressScope, PushNotification, PushTarget, ScopedOutbound } from '../../ports.ts';

export interface PostPorts {
  /** Puts a task into the words of a version of A2A. */
  write: (task: Task, version: string) => Promise<PushNotification>;
  egress: ScopedOutbound;
}

/** How long a receiver may take, in milliseconds. */
const patience = 10_000;

/** Posts how a task stands to a receiver. Rejects when that does not take it. */
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

/** Returns the scope of a task: a caller named the receiver, so it is checked like a request of a tool. */
export function scopeOf({ taskId }: PushTarget): EgressScope {
  return { taskId, correlationId: null, tags: {} };
}

function authentication({ token, authentication: auth }: PushTarget): Record<string, string> {
  return {
    ...(auth?.credentials ? { Authorization: `${auth.scheme} ${auth.credentials}` } : {}),
    ...(token === '' ? {} : { 'X-A2A-Notification-Token': token }),
  };
}
