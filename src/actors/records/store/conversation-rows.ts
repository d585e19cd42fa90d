import type { ChatMessage, Turn } from '../../../machines/channels/turn.ts';

/** What was said to the agent in chats: messages without their last word, and the ids of those that have it. */
export interface ConversationRows {
  /** Stores a message at a time in epoch milliseconds; returns whether it is new. */
  take(turn: Turn, at: number): Promise<boolean>;
  /** Keeps how far the answer to a message is. */
  keep(turn: Turn): Promise<void>;
  /** Forgets what a message said, which has had its last word, but not that it was heard. */
  close(message: Pick<ChatMessage, 'adapter' | 'id'>): Promise<void>;
  /** Returns the messages without a last word, in the order in which they were taken in. */
  open(): Promise<Turn[]>;
  /** Forgets the ids of answered messages that were taken in before a time; returns how many. */
  prune(at: number): Promise<number>;
}
