import type { ChatMessage, Turn } from '../../../machines/channels/turn.ts';

/** Chat messages to the agent: unanswered messages, and the ids of answered ones. */
export interface ConversationRows {
  /** Stores a message at a time in epoch milliseconds; returns whether it is new. */
  take(turn: Turn, at: number): Promise<boolean>;
  /** Saves the progress of a message's answer. */
  keep(turn: Turn): Promise<void>;
  /** Deletes the content of an answered message, but keeps its id. */
  close(message: Pick<ChatMessage, 'adapter' | 'id'>): Promise<void>;
  /** Returns the unanswered messages, in the order of arrival. */
  open(): Promise<Turn[]>;
  /** Deletes the ids of answered messages received before a time; returns their number. */
  prune(at: number): Promise<number>;
}
