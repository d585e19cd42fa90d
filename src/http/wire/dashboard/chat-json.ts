/** Body of `POST /api/agents/{id}/chat`. */
export interface ChatRequestJson {
  message: string;
  session_id?: string;
}

/** Events of the answer to a chat message, with their data. */
export interface ChatEvents {
  /** The task as the agent tells it. */
  status: unknown;
  progress: { task_id: string; phase: string; tool?: string; text?: string };
  result: unknown;
  error: { error: string };
  /** The last one. */
  done: { session_id: string; task_id: string };
}

/** A conversation: an element of `GET /api/agents/{id}/sessions`, newest first. */
export interface SessionJson {
  id: string;
  /** First 100 characters, then `...` where there are more. */
  preview: string;
  created_at: string;
  updated_at: string;
}

/** Answer of `GET /api/agents/{id}/sessions/{sid}`. */
export interface SessionMessagesJson {
  id: string;
  /** Messages as the agent tells them. */
  messages: unknown[];
}
