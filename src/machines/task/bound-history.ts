import type { Message } from '../domain/task.ts';
import { utf8Size } from '../utf8-size.ts';

/** Limits of a task's stored history (docs/contract/task.md); bytes are counted on the messages as JSON. */
export const historyBound = { bytes: 1024 * 1024, messages: 200 } as const;

/** A task's stored messages. */
export interface BoundHistory {
  /** Oldest first. */
  messages: Message[];
  /** Number of earlier messages that are not stored. */
  leftOut: number;
}

/** A message never changes, so its size is cached for all descriptions of its task. */
const sizes = new WeakMap<Message, number>();

/**
 * Drops the oldest messages until the rest is within the limits.
 *
 * @param present number of last messages that are always kept, regardless of size: the messages of the present run
 */
export function boundHistory(
  messages: readonly Message[],
  leftOut: number,
  present: number,
): BoundHistory {
  let first = messages.length;
  let bytes = 0;
  while (first > 0 && messages.length - first < historyBound.messages) {
    bytes += messageSize(messages[first - 1] as Message);
    if (bytes > historyBound.bytes && first <= messages.length - present) break;
    first -= 1;
  }
  return { messages: messages.slice(first), leftOut: leftOut + first };
}

/** Returns the size of a message as JSON in bytes. */
export function messageSize(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const size = utf8Size(JSON.stringify(message));
  sizes.set(message, size);
  return size;
}
