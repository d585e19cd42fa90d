import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Caller, Message } from '../../../machines/task/task.ts';

/** A message that is known again when it comes a second time. */
export interface SentMessage {
  key: string;
  /** The task that it led to before, and that does not count any more; `null` for none. */
  supersedes: string | null;
}

/** Where a message says that it belongs; a new task or context when absent. */
export interface MessagePlace {
  taskId?: string;
  contextId?: string;
}

/**
 * Returns what a message is known by, the whole first: a digest of the id that its sender gave it, of its parts, of its
 * task and context, and of its sender as authentication established it. The keys behind the first are those of the same
 * message before its sender knew its task or context. Without authentication all senders are one.
 */
export function messageKeys(
  sender: Caller | null,
  { messageId, parts }: Pick<Message, 'messageId' | 'parts'>,
  { taskId, contextId }: MessagePlace,
): [string, ...string[]] {
  const { provider, userId, orgId } = sender ?? {};
  const said = hash('sha256', canonicalize(parts) ?? '', 'base64url');
  const keyOf = (task?: string, context?: string): string =>
    hash(
      'sha256',
      JSON.stringify([provider, userId, orgId, messageId, said, task, context]),
      'base64url',
    );
  const whole = keyOf(taskId, contextId);
  const known = [keyOf(undefined, contextId), keyOf(taskId), keyOf()];
  return [whole, ...new Set(known.filter((key) => key !== whole))];
}
