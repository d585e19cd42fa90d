import type { SessionBrief } from '../../actors/tasks/tasks.ts';
import { timestamp } from './timestamp.ts';

/** Formats a session for a list. */
export function presentSession({ id, preview, createdAt, updatedAt }: SessionBrief) {
  return { id, preview, created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
}
