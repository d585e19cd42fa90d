import type { ServerResponse } from 'node:http';
import type { Clock } from '../../actors/ports/clock.ts';

interface Held {
  /** Epoch milliseconds at which the session ends without another action. */
  until: number;
  responses: Set<ServerResponse>;
}

interface StreamPorts {
  /** Returns whether a session may still receive what its responses have. */
  isAdmitted: (id: string) => Promise<boolean>;
  clock: Clock;
  /** Time in milliseconds after which a session without an action ends. */
  idle: number;
}

/** Time between two checks of the sessions with open responses, in milliseconds. */
const pause = 10_000;

/**
 * The unfinished responses of each session, such as event streams. They are cut off once the session has ended, or its
 * person has lost the right to them.
 */
export class SessionStreams {
  readonly #ports: StreamPorts;
  readonly #held = new Map<string, Held>();
  #timer: unknown = null;

  constructor(ports: StreamPorts) {
    this.#ports = ports;
  }

  /** Cuts a response off if its session, or the right of its person, ends first. */
  hold(id: string, response: ServerResponse): void {
    if (response.destroyed) return;
    const held = this.#held.get(id) ?? { until: this.#idleEnd(), responses: new Set() };
    this.#held.set(id, held);
    held.responses.add(response);
    response.once('close', () => {
      held.responses.delete(response);
      if (held.responses.size === 0 && this.#held.get(id) === held) this.#held.delete(id);
    });
    this.#timer ??= this.#ports.clock.setTimeout(() => void this.#check(), pause);
  }

  /** Restarts the idle time of a session. */
  renew(id: string): void {
    const held = this.#held.get(id);
    if (held !== undefined) held.until = this.#idleEnd();
  }

  /** Cuts off the responses of a session that has ended. */
  end(id: string): void {
    const { responses = [] } = this.#held.get(id) ?? {};
    this.#held.delete(id);
    for (const response of responses) response.destroy();
  }

  close(): void {
    this.#ports.clock.clearTimeout(this.#timer);
    for (const id of [...this.#held.keys()]) this.end(id);
  }

  async #check(): Promise<void> {
    const { isAdmitted, clock } = this.#ports;
    const check = async ([id, held]: [string, Held]): Promise<void> => {
      // A store that cannot be read shows no session to be open.
      const isOpen = await isAdmitted(id).catch(() => false);
      if (!isOpen || clock.now() >= held.until) this.end(id);
    };
    await Promise.all([...this.#held].map(check));
    const isWaiting = this.#held.size > 0;
    this.#timer = isWaiting ? clock.setTimeout(() => void this.#check(), pause) : null;
  }

  #idleEnd(): number {
    return this.#ports.clock.now() + this.#ports.idle;
  }
}
