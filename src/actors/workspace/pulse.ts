import type { Clock } from '../ports.ts';
import { type AgentLine, LineError } from './agent-line.ts';

/** Milliseconds in which an agent at work answers that it lives. */
const patience = 3_000;

export interface PulseOptions {
  line: Pick<AgentLine, 'json'>;
  clock: Pick<Clock, 'now'>;
  /** `since` has changed. */
  onChange: () => void;
}

/** Checks whether a running agent responds: its process may live and answer nothing. */
export class Pulse {
  readonly #options: PulseOptions;
  readonly #left = new AbortController();
  #isAsking = false;
  #since: number | null = null;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** When the agent was asked what it has not answered, in milliseconds since 1970; `null` while it responds. */
  get since(): number | null {
    return this.#since;
  }

  /** Asks the agent, unless it is still being asked. Never rejects. */
  async check(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { line, clock } = this.#options;
    const asked = clock.now();
    const { signal } = this.#left;
    try {
      await line.json({ method: 'GET', path: '/healthz', patience, signal });
      this.#note(null);
    } catch (error) {
      if (signal.aborted) return;
      // What makes no sense was answered all the same.
      const isAnswer = error instanceof LineError && error.code === 'senseless';
      this.#note(isAnswer ? null : (this.#since ?? asked));
    } finally {
      this.#isAsking = false;
    }
  }

  /** Stops asking. */
  close(): void {
    this.#left.abort();
  }

  #note(since: number | null): void {
    if (since === this.#since) return;
    this.#since = since;
    this.#options.onChange();
  }
}
