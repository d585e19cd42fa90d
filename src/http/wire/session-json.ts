import type { SessionBrief } from '../../actors/tasks/tasks.ts';
import { timestamp } from './timestamp.ts';

/** Writes a session as a list shows it. */
export function presentSession({ id, preview, createdAt, updatedAt }: SessionBrief) {
  return { id, preview, created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
}
