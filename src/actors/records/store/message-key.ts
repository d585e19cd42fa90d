import { hash } from 'node:crypto';
import type { Caller } from '../../../machines/task/task.ts';

/** A message that is known again when it comes a second time. */
export interface SentMessage {
  key: string;
  /** The task that it led to before, and that does not count any more; `null` for none. */
  supersedes: string | null;
}

/**
 * Returns what a message is known by: a digest of the id that its sender gave it and of who that is, as
 * authentication established it. Without authentication all senders are one.
 */
export function messageKey(sender: Caller | null, messageId: string): string {
  const { provider, userId, orgId } = sender ?? {};
  return hash('sha256', JSON.stringify([provider, userId, orgId, messageId]), 'base64url');
}
