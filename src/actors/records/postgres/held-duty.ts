import type { Log } from '../../ports/log.ts';
import { rest } from '../../rest.ts';
import { systemClock } from '../../system-clock.ts';
import type { SessionLock } from './session-lock.ts';

/** Ends a duty. With the lock there is time to finish; without it another daemon may already perform the duty. */
export type EndOfDuty = (hasLock: boolean) => Promise<void>;

/** Ports of a duty that one daemon performs at a time. */
export interface DutyPorts {
  /** Acquires the lock of the duty; `null` while another daemon has it. */
  lock: () => Promise<SessionLock | null>;
  /** Starts the duty; resolves with a function that ends it, which receives whether the lock is still held. */
  begin: () => Promise<EndOfDuty>;
  log: Log;
}

/** Interval at which a daemon without the duty tries to acquire it, in milliseconds. */
const askEvery = 1_000;

/** A duty that one daemon performs at a time; it passes to another as soon as its holder's connection is lost. */
export class HeldDuty {
  readonly #ports: DutyPorts;
  readonly #stopped = new AbortController();
  #isHeld = false;
  #running: Promise<void> | null = null;

  constructor(ports: DutyPorts) {
    this.#ports = ports;
  }

  /** True while this daemon performs the duty. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Starts acquiring the duty whenever it is free. */
  start(): void {
    this.#running = this.#run();
  }

  /** Releases the duty and stops acquiring it. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const lock = await this.#ports.lock().catch(() => null);
      if (lock !== null) await this.#hold(lock, signal);
      await rest(askEvery, systemClock(), signal);
    }
  }

  async #hold(lock: SessionLock, signal: AbortSignal): Promise<void> {
    const { begin, log } = this.#ports;
    this.#isHeld = true;
    try {
      const end = await begin();
      await end(await Promise.race([lock.lost.then(() => false), aborted(signal)]));
    } catch (error) {
      log.error({ error }, 'store: a duty of the keeper failed');
    } finally {
      this.#isHeld = false;
      await lock.release().catch(() => undefined);
    }
  }
}

function aborted(signal: AbortSignal): Promise<true> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(true);
    else signal.addEventListener('abort', () => resolve(true));
  });
}
