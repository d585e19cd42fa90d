import { z } from 'zod';
import type { Task } from '../../machines/domain/task.ts';

export const requester = z
  .object({ user_id: z.string(), email: z.string().nullable(), provider: z.string() })
  .meta({ id: 'Requester', description: 'The caller whose message started a task.' });

/** Formats the requester; `null` without authentication. */
export function presentRequester(by: Task['requester']): z.input<typeof requester> | null {
  if (by === null) return null;
  const { userId, email = null, provider } = by;
  return { user_id: userId, email, provider };
}
