import type { Clock } from '../../../ports.ts';
import { pause } from '../../time-limit.ts';

/** Time between two messages in a channel that Slack keeps to one a second, with a margin, in milliseconds. */
const gap = 1_050;

/** Time for which a channel is limited after Slack asked for it, in milliseconds. */
const remembered = 60_000;

interface Limited {
  /** Epoch milliseconds. */
  until: number;
  lastAt: number;
}

/**
 * Limits the rate of messages by channel: none at first, since Slack accepts short bursts, and one a second for a
 * minute after Slack has asked for that, so that Slack does not refuse a flood one by one.
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

  /** Notes that Slack took a message in a channel. */
  taken(channel: string): void {
    const limited = this.#limited.get(channel);
    if (limited !== undefined) limited.lastAt = this.#clock.now();
  }

  /** Notes that Slack asked for fewer messages in a channel. */
  slow(channel: string): void {
    const now = this.#clock.now();
    this.#limited.set(channel, { until: now + remembered, lastAt: now });
  }
}
