/** Body of `POST /api/agents/{id}/chat`. */
export interface ChatRequestJson {
  message: string;
  session_id?: string;
}

/** Events of the response to a chat message, with their data. */
export interface ChatEvents {
  /** The task as reported by the agent. */
  status: unknown;
  progress: { task_id: string; phase: string; tool?: string; text?: string };
  result: unknown;
  error: { error: string };
  /** The last event. */
  done: { session_id: string; task_id: string };
}

/** A conversation: an element of `GET /api/agents/{id}/sessions`, newest first. */
export interface SessionJson {
  id: string;
  /** The first 100 characters, followed by `...` if there are more. */
  preview: string;
  created_at: string;
  updated_at: string;
}

/** Response of `GET /api/agents/{id}/sessions/{sid}`. */
export interface SessionMessagesJson {
  id: string;
  /** Messages as reported by the agent. */
  messages: unknown[];
}
