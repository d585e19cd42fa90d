import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Caller, Message } from '../../../machines/domain/task.ts';

/** A message that is recognised when it is sent again. */
export interface SentMessage {
  key: string;
  /** The previous task of the message, which no longer counts; `null` for none. */
  supersedes: string | null;
}

/** Task and context named by a message; a new one for each that is absent. */
export interface MessagePlace {
  taskId?: string;
  contextId?: string;
}

/**
 * Returns the keys that identify a message, the most specific first: a digest of its sender's message id, its parts,
 * its task and context, and its authenticated sender. The remaining keys identify the same message before its sender
 * knew task or context. Without authentication all senders are identical.
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
