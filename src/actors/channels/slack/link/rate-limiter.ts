import type { Clock } from '../../../ports/clock.ts';
import { pause } from '../../time-limit.ts';

/** Minimum time between two messages in a rate-limited channel, in milliseconds: Slack's one second plus a margin. */
const gap = 1_050;

/** Time for which a channel stays limited after Slack asked for it, in milliseconds. */
const remembered = 60_000;

interface Limited {
  /** Epoch milliseconds. */
  until: number;
  lastAt: number;
}

/**
 * Limits the message rate per channel. There is no limit at first, since Slack accepts short bursts. After Slack has
 * asked for it, the limit is one message a second for a minute, so that Slack need not refuse each message of a flood.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #limited = new Map<string, Limited>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the next message may be posted in a channel. */
  async turn(channel: string): Promise<void> {
    const limited = this.#limited.get(channel);
    if (limited === undefined) return;
    const now = this.#clock.now();
    if (now >= limited.until) this.#limited.delete(channel);
    else if (now < limited.lastAt + gap) await pause(this.#clock, limited.lastAt + gap - now);
  }

  /** Records that Slack accepted a message in a channel. */
  taken(channel: string): void {
    const limited = this.#limited.get(channel);
    if (limited !== undefined) limited.lastAt = this.#clock.now();
  }

  /** Records that Slack asked for fewer messages in a channel. */
  slow(channel: string): void {
    const now = this.#clock.now();
    this.#limited.set(channel, { until: now + remembered, lastAt: now });
  }
}
