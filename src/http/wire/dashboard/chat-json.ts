import type { z } from 'zod';
import type { progress } from '../progress.ts';
import type { sessionBrief } from '../session.ts';

/** Body of `POST /api/agents/{id}/chat`. */
export interface ChatRequestJson {
  message: string;
  session_id?: string;
}

/** Events of the response to a chat message, with their data. */
export interface ChatEvents {
  /** The task as reported by the agent. */
  status: unknown;
  progress: z.infer<typeof progress>;
  result: unknown;
  error: { error: string };
  /** The last event. */
  done: { session_id: string; task_id: string };
}

/** A conversation: an element of `GET /api/agents/{id}/sessions`, newest first. */
export type SessionJson = z.infer<typeof sessionBrief>;

/** Response of `GET /api/agents/{id}/sessions/{sid}`. */
export interface SessionMessagesJson {
  id: string;
  /** Messages as reported by the agent. */
  messages: unknown[];
}
