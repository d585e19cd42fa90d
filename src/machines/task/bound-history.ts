import { utf8Size } from '../utf8-size.ts';
import type { Message } from './task.ts';

/** How much of what was said a task keeps (docs/contract/task.md); bytes are those of the messages as JSON. */
export const historyBound = { bytes: 1024 * 1024, messages: 200 } as const;

/** What was said in a task, as far as it is kept. */
export interface BoundHistory {
  /** Oldest first. */
  messages: Message[];
  /** How many came before them and are not kept. */
  leftOut: number;
}

/** A message never changes, so that it is measured once, however often its task is described. */
const sizes = new WeakMap<Message, number>();

/**
 * Leaves out the oldest messages until the rest is within the bound.
 *
 * @param present how many of the last messages stay, however large they are: those of the present run
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

/** Returns the bytes of a message as JSON. */
export function messageSize(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const size = utf8Size(JSON.stringify(message));
  sizes.set(message, size);
  return size;
}
