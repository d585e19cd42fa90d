import { createActor, fromPromise } from 'xstate';
import { sinkMachine } from '../../../machines/audit/sink-machine.ts';
import type { Clock } from '../../ports/clock.ts';
import { type BatchBounds, LineQueue, type QueueBounds } from './line-queue.ts';
import type { SinkTarget } from './sink-target.ts';

/** A change of a sink between up and down. */
export interface SinkFlip {
  sink: string;
  state: 'up' | 'down';
  /** Lines dropped since the previous change. */
  dropped: number;
  /** Why the sink is down; `null` if it is up. */
  error: string | null;
}

/** Statistics of a sink. */
export interface SinkStats {
  name: string;
  state: 'connecting' | 'open' | 'backoff' | 'closed';
  /** Number of delivered lines. */
  delivered: number;
  /** Number of lines dropped because the queue was full. */
  dropped: number;
  /** Number of queued lines. */
  lag: number;
}

export interface AuditSinkOptions {
  name: string;
  target: SinkTarget;
  batch: BatchBounds;
  clock: Clock;
  report: (flip: SinkFlip) => void;
  bounds?: QueueBounds;
}

/** A sink of the audit log; it never blocks the caller that offers lines. */
export class AuditSink {
  readonly #options: AuditSinkOptions;
  readonly #queue: LineQueue;
  readonly #actor;
  #delivered = 0;
  #told = 0;
  #isUp = true;
  #emptied: (() => void) | null = null;

  constructor(options: AuditSinkOptions) {
    this.#options = options;
    this.#queue = new LineQueue(options.bounds);
    this.#actor = createActor(this.#chart(), { clock: options.clock });
    this.#actor.subscribe({ error: (error) => this.#goDown(error) });
    this.#actor.start();
  }

  /** Queues lines, each with its newline. Never throws. */
  offer(lines: readonly Uint8Array[]): void {
    if (this.#actor.getSnapshot().status !== 'active') return;
    let isFull = false;
    for (const line of lines) isFull = !this.#queue.push(line) || isFull;
    if (isFull) this.#goDown(new Error('more lines wait than the queue holds'));
  }

  stats(): SinkStats {
    const { status, value } = this.#actor.getSnapshot();
    return {
      name: this.#options.name,
      state: status === 'active' ? value : 'closed',
      delivered: this.#delivered,
      dropped: this.#queue.dropped,
      lag: this.#queue.length,
    };
  }

  /** Waits up to `grace` milliseconds for queued lines to be delivered, then closes. Never rejects. */
  async close(grace: number): Promise<void> {
    const { clock, target } = this.#options;
    if (this.#actor.getSnapshot().status !== 'active') return;
    if (this.#queue.length > 0 && this.#actor.getSnapshot().value === 'open') {
      await new Promise<void>((resolve) => {
        const timer = clock.setTimeout(resolve, grace);
        this.#emptied = () => {
          clock.clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#actor.send({ type: 'sink.close' });
    target.disconnect();
  }

  #chart() {
    const { target } = this.#options;
    return sinkMachine.provide({
      actors: {
        connect: fromPromise(async ({ signal }) => {
          target.disconnect();
          await target.connect(signal);
        }),
        deliver: fromPromise(({ signal }) => this.#deliverUntilHungUp(signal)),
      },
      actions: {
        noteOpen: () => this.#queue.length === 0 && this.#goUp(),
        noteFailure: (_, { error }) => this.#goDown(error),
      },
    });
  }

  async #deliverUntilHungUp(signal: AbortSignal): Promise<void> {
    const hungUp = new AbortController();
    try {
      const delivering = this.#deliver(AbortSignal.any([signal, hungUp.signal]));
      await Promise.race([delivering, this.#options.target.hungUp()]);
    } finally {
      // Otherwise it would continue in parallel to the next connection's delivery, with the same lines.
      hungUp.abort();
    }
  }

  async #deliver(signal: AbortSignal): Promise<void> {
    const { target, batch } = this.#options;
    for (;;) {
      await this.#queue.filled(signal);
      const lines = this.#queue.peek(batch);
      await target.deliver(lines, signal);
      signal.throwIfAborted();
      this.#queue.remove(lines.length);
      this.#delivered += lines.length;
      this.#actor.send({ type: 'lines.delivered' });
      if (this.#queue.isRelieved) this.#goUp();
      if (this.#queue.length === 0) this.#emptied?.();
    }
  }

  #goUp(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#report('up', null);
  }

  #goDown(error: unknown): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#report('down', error instanceof Error ? error.message : 'no reason given');
  }

  #report(state: SinkFlip['state'], error: string | null): void {
    const { dropped } = this.#queue;
    const since = dropped - this.#told;
    this.#told = dropped;
    try {
      this.#options.report({ sink: this.#options.name, state, dropped: since, error });
    } catch {
      // A failure of the listener must not stop the delivery of lines.
    }
  }
}
