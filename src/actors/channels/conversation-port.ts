import type { JsonObject } from '../../machines/json.ts';

/** A message to the agent in a chat. */
export interface ChatMessage {
  /** The adapter that heard it. */
  adapter: string;
  /** Unique among the messages of the adapter; a redelivery has the same id. */
  id: string;
  /** Names the thread, in characters that a task id may have, 100 at most; the thread is a `contextId`. */
  thread: string;
  /** The text without the mention of the agent. */
  text: string;
  from: ChatPerson;
  /** The address of the answer, in the adapter's own format. */
  ref: JsonObject;
}

/** A person in a chat, as the service names them. */
export interface ChatPerson {
  /** Such as `slack:T012/U034`. */
  id: string;
  name: string;
  /** Verified by the service; `null` when it tells none. */
  email: string | null;
}

/** The state of an answer: in progress, waiting for approval, or done. */
export type ChatMark = 'working' | 'waiting' | 'done' | 'failed';

/** Writes to the threads of one adapter; every method rejects with DeliveryError. */
export interface ConversationPort {
  /** Shows beside the message how its answer stands; a mark replaces the one before it. */
  mark(ref: JsonObject, mark: ChatMark, signal: AbortSignal): Promise<void>;
  /** Says something in the thread; what is too long for a message goes as a file. */
  say(ref: JsonObject, markdown: string, signal: AbortSignal): Promise<void>;
}
