import { LRUCache } from 'lru-cache';
import type { Turn } from '../../../machines/channels/turn.ts';
import { InOrder } from '../../in-order.ts';
import type { Clock } from '../../ports.ts';
import type { ConversationRows } from '../../records/records.ts';
import type { ChatMessage } from '../conversation-port.ts';

export interface MessageIntakeOptions {
  rows: ConversationRows;
  clock: Clock;
  /** Is given what is new, in the order of its thread. */
  onNew: (turn: Turn) => void;
}

/** Milliseconds for which a message that comes again is known. */
const remembered = 86_400_000;

/** Messages that are remembered as stored or not, nobody knows. */
const mostDoubtful = 1_000;

/** Stores messages: those of one thread in the order in which they came, and none of them twice. */
export class MessageIntake {
  readonly #options: MessageIntakeOptions;
  readonly #inThread = new InOrder();
  /** Messages that the store may have taken although it failed. */
  readonly #doubtful = new LRUCache<string, true>({ max: mostDoubtful });
  #size = 0;

  constructor(options: MessageIntakeOptions) {
    this.#options = options;
  }

  /** Messages that are being stored, or wait for it. */
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
      // One that the store knows by a try that failed is in no thread yet.
      return this.#doubtful.delete(name) || isNew;
    } catch (error) {
      this.#doubtful.set(name, true);
      throw error;
    }
  }
}
