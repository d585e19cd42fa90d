import { LRUCache } from 'lru-cache';
import type { Turn } from '../../../machines/channels/turn.ts';
import { InOrder } from '../../in-order.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConversationRows } from '../../records/records.ts';
import type { ChatMessage } from '../conversation-port.ts';

export interface MessageIntakeOptions {
  rows: ConversationRows;
  clock: Clock;
  /** Receives each new message, in the order of its thread. */
  onNew: (turn: Turn) => void;
}

/** Time during which duplicates of a message are recognised, in milliseconds. */
const remembered = 86_400_000;

/** Maximum remembered messages whose storage is uncertain. */
const mostDoubtful = 1_000;

/** Stores each message exactly once, in the order of arrival within its thread. */
export class MessageIntake {
  readonly #options: MessageIntakeOptions;
  readonly #inThread = new InOrder();
  /** Messages that may have been stored although the store reported a failure. */
  readonly #doubtful = new LRUCache<string, true>({ max: mostDoubtful });
  #size = 0;

  constructor(options: MessageIntakeOptions) {
    this.#options = options;
  }

  /** Number of messages being stored or waiting for the store. */
  get size(): number {
    return this.#size;
  }

  /**
   * Stores a message once `ready` resolves with true, and resolves with whether it is stored. Rejects when the store
   * fails.
   */
  async take(message: ChatMessage, ready: () => Promise<boolean>): Promise<boolean> {
    this.#size += 1;
    try {
      return await this.#inThread.run(message.thread, async () => {
        if (!(await ready())) return false;
        await this.#store(message);
        return true;
      });
    } finally {
      this.#size -= 1;
    }
  }

  /** Resolves once nothing is being stored. */
  over(): Promise<void> {
    return this.#inThread.over();
  }

  async #store(message: ChatMessage): Promise<void> {
    const { rows, clock, onNew } = this.#options;
    const now = clock.now();
    await rows.prune(now - remembered);
    const turn: Turn = { message, heldId: null, isLate: false };
    if (await this.#isNew(turn, now)) onNew(turn);
  }

  async #isNew(turn: Turn, now: number): Promise<boolean> {
    const { adapter, id } = turn.message;
    const name = `${adapter}:${id}`;
    try {
      const isNew = await this.#options.rows.take(turn, now);
      // A message stored by a failed attempt is a duplicate in the store, but has not reached its thread yet.
      return this.#doubtful.delete(name) || isNew;
    } catch (error) {
      this.#doubtful.set(name, true);
      throw error;
    }
  }
}
