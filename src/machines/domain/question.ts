import type { JsonObject } from '../json.ts';

/** A question of an MCP server during a call, for a person. */
export interface Question {
  /** The agent's name for the questions of the server. */
  tool: string;
  /** Identifies the question within its call. */
  key: string;
  message: string;
  /** An address that the person opens; absent for a form. */
  url?: string;
  /** JSON Schema of the fields of a form, of a flat object; absent for an address. */
  form?: JsonObject;
}

/** The answer of a person; `cancel` if nobody answered. */
export type QuestionAnswer =
  | { action: 'accept'; content?: JsonObject }
  | { action: 'decline' | 'cancel' };
