import { systemClock } from '../../clock.ts';
import type { Log } from '../../ports.ts';
import { rest } from '../../rest.ts';
import type { SessionLock } from './session-lock.ts';

/** Ends a duty; with the lock there is time to bring it to an end, without it another daemon may have it already. */
export type EndOfDuty = (hasLock: boolean) => Promise<void>;

/** What a duty needs that one daemon of several has at a time. */
export interface DutyPorts {
  /** Takes the lock of the duty; `null` while another daemon has it. */
  lock: () => Promise<SessionLock | null>;
  /** Begins the duty; resolves with what ends it, which is told whether the lock is still there meanwhile. */
  begin: () => Promise<EndOfDuty>;
  log: Log;
}

/** How often a daemon without the duty asks for it, in milliseconds. */
const askEvery = 1_000;

/** A duty that one daemon of several has at a time: it passes on as soon as the connection of who had it is gone. */
export class HeldDuty {
  readonly #ports: DutyPorts;
  readonly #stopped = new AbortController();
  #isHeld = false;
  #running: Promise<void> | null = null;

  constructor(ports: DutyPorts) {
    this.#ports = ports;
  }

  /** True while this daemon has it. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Takes the duty whenever it is free, from now on. */
  start(): void {
    this.#running = this.#run();
  }

  /** Lets go of the duty and asks for it no more. */
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
      log.error({ error }, 'store: what one daemon of several does could not be done');
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
