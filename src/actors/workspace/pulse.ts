import type { Clock } from '../ports/clock.ts';
import { type AgentLine, LineError } from './agent-line.ts';

/** Time within which a busy agent responds to a health check, in milliseconds. */
const patience = 3_000;

export interface PulseOptions {
  line: Pick<AgentLine, 'json'>;
  clock: Pick<Clock, 'now'>;
  /** Called when `since` changes. */
  onChange: () => void;
}

/** Checks whether a running agent responds: its process may be alive but hanging. */
export class Pulse {
  readonly #options: PulseOptions;
  readonly #left = new AbortController();
  #isAsking = false;
  #since: number | null = null;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** Time of the first unanswered check in epoch milliseconds; `null` while the agent responds. */
  get since(): number | null {
    return this.#since;
  }

  /** Checks the agent, unless a check is running. Never rejects. */
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
      // An invalid response still proves that the agent responds.
      const isAnswer = error instanceof LineError && error.code === 'senseless';
      this.#note(isAnswer ? null : (this.#since ?? asked));
    } finally {
      this.#isAsking = false;
    }
  }

  /** Stops checking. */
  close(): void {
    this.#left.abort();
  }

  #note(since: number | null): void {
    if (since === this.#since) return;
    this.#since = since;
    this.#options.onChange();
  }
}
