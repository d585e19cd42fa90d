import type { JsonObject } from '../../machines/json.ts';

/** A user's message to the agent in a chat. */
export interface ChatMessage {
  /** The adapter that received it. */
  adapter: string;
  /** Unique within the adapter; a redelivery has the same id. */
  id: string;
  /** Thread id, used as `contextId`: up to 100 characters that are valid in a task id. */
  thread: string;
  /** The text without the mention of the agent. */
  text: string;
  from: ChatPerson;
  /** The reply address, in the adapter's own format. */
  ref: JsonObject;
}

/** A chat user as the service identifies them. */
export interface ChatPerson {
  /** Such as `slack:T012/U034`. */
  id: string;
  name: string;
  /** Verified by the service; `null` if the service provides none. */
  email: string | null;
}

/** State of an answer: in progress, waiting for approval, done or failed. */
export type ChatMark = 'working' | 'waiting' | 'done' | 'failed';

/** Writes to the threads of one adapter; every method rejects with DeliveryError. */
export interface ConversationPort {
  /** Shows the state of the answer next to the message; replaces the previous mark. */
  mark(ref: JsonObject, mark: ChatMark, signal: AbortSignal): Promise<void>;
  /** Posts a string to the thread; a string that exceeds the message limit is sent as a file. */
  say(ref: JsonObject, markdown: string, signal: AbortSignal): Promise<void>;
}
