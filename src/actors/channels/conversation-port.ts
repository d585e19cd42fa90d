import type { JsonObject } from '../../machines/json.ts';

/** Something that somebody said to the agent in a chat. */
export interface ChatMessage {
  /** The adapter that heard it. */
  adapter: string;
  /** Unique among the messages of the adapter, whatever is delivered twice. */
  id: string;
  /** Names the thread, in characters that a task id may have, 100 at most; the thread is a `contextId`. */
  thread: string;
  /** What was said, without the mention of the agent. */
  text: string;
  from: ChatPerson;
  /** Where to answer, in the words of the adapter. */
  ref: JsonObject;
}

/** Somebody in a chat, as the service itself names them. */
export interface ChatPerson {
  /** Such as `slack:T012/U034`. */
  id: string;
  name: string;
  /** Verified by the service; `null` when it tells none. */
  email: string | null;
}

/** How an answer to somebody stands: being worked on, waiting for a release, or over. */
export type ChatMark = 'working' | 'waiting' | 'done' | 'failed';

/** How an adapter speaks in a thread. Every method rejects with DeliveryError. */
export interface ConversationPort {
  /** Shows beside the message how its answer stands; a mark replaces the one before it. */
  mark(ref: JsonObject, mark: ChatMark, signal: AbortSignal): Promise<void>;
  /** Says something in the thread; what is too long for a message goes as a file. */
  say(ref: JsonObject, markdown: string, signal: AbortSignal): Promise<void>;
}
