import { z } from 'zod';
import type { Message } from '../../machines/domain/task.ts';
import { message, presentMessage } from './message.ts';
import { time, timestamp } from './timestamp.ts';

export const sessionBrief = z
  .object({
    id: z.string().describe('The contextId of its tasks.'),
    preview: z.string().describe('The beginning of the first message.'),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'SessionBrief', description: 'The tasks of one contextId.' });

export const sessionPage = z
  .object({ sessions: z.array(sessionBrief), next_cursor: z.string().exactOptional() })
  .meta({ id: 'SessionList' });

export const session = sessionBrief
  .extend({ messages: z.array(message) })
  .meta({ id: 'Session', description: 'A session with its messages.' });

/** A session without its messages; the page shares the types of this file, so they name no actor. */
interface Brief {
  id: string;
  preview: string;
  createdAt: number;
  updatedAt: number;
}

/** Formats a session for a list. */
export function presentBrief({
  id,
  preview,
  createdAt,
  updatedAt,
}: Brief): z.input<typeof sessionBrief> {
  return { id, preview, created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
}

/** Formats a session with its messages. */
export function presentSession(
  whole: Brief & { messages: readonly Message[] },
): z.input<typeof session> {
  return { ...presentBrief(whole), messages: whole.messages.map(presentMessage) };
}
