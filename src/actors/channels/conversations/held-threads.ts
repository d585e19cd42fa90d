import {
  calledOffText,
  isCallOff,
  keptText,
} from '../../../machines/channels/conversation-words.ts';
import type { HeldCall, Turn } from '../../../machines/channels/turn.ts';
import type { Clock } from '../../ports/clock.ts';
import { pause } from '../time-limit.ts';
import type { AgentSurface } from './agent-surface.ts';
import { type SpeakPorts, speak } from './speak.ts';

export interface HeldThreadsOptions extends SpeakPorts {
  surface: Partial<Pick<AgentSurface, 'tell' | 'cancel'>>;
  clock: Clock;
  signal: AbortSignal;
}

/** Number of attempts to send an answer, and milliseconds between two attempts. */
const tries = { most: 3, pause: 1_000 };

/**
 * Threads whose task waits for an approval. New messages there go to the waiting task at once, where its approvers see
 * them, and are answered with the held call. The requester can cancel the task.
 */
export class HeldThreads {
  readonly #options: HeldThreadsOptions;
  readonly #held = new Map<string, { call: HeldCall; turn: Turn }>();

  constructor(options: HeldThreadsOptions) {
    this.#options = options;
  }

  /** Records that the task of a turn waits. */
  hold(turn: Turn, call: HeldCall): void {
    this.#held.set(turn.message.thread, { call, turn });
  }

  /** Records that the task no longer waits. */
  release({ message }: Turn): void {
    this.#held.delete(message.thread);
  }

  /** Returns whether the task of a thread waits for an approval. */
  has(thread: string): boolean {
    return this.#options.surface.tell !== undefined && this.#held.has(thread);
  }

  /**
   * Passes a message to the waiting task and answers it. Resolves with false if the task no longer waits. Never
   * rejects.
   */
  async pass(turn: Turn): Promise<boolean> {
    const { signal } = this.#options;
    const words = await this.#wordsFor(turn).catch(() => null);
    if (words === null) return signal.aborted;
    for (let tried = 1; tried <= tries.most && !signal.aborted; tried += 1) {
      const utterance = { to: turn.message, kind: 'say', markdown: words, isLast: true } as const;
      const spoken = await speak(utterance, this.#options, signal);
      if (spoken.kind === 'delivered' || !spoken.isPassing) break;
      await pause(this.#options.clock, spoken.retryAfter ?? tries.pause);
    }
    return true;
  }

  async #wordsFor({ message }: Turn): Promise<string | null> {
    const { surface, signal } = this.#options;
    const held = this.#held.get(message.thread);
    if (held === undefined) return null;
    const isRequester = held.turn.message.from.id === message.from.id;
    if (
      isRequester &&
      isCallOff(message.text) &&
      (await surface.cancel?.(message, signal)) === true
    ) {
      return calledOffText;
    }
    const refusal = (await surface.tell?.(message, signal)) ?? null;
    if (refusal === 'notWaiting') return null;
    return refusal ?? keptText(held.call);
  }
}
