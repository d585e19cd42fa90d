import { LRUCache } from 'lru-cache';
import type { AuditEvent, Clock } from '../actors/ports.ts';

/** Milliseconds for which one line stands for all that are like it (docs/contract/authentication.md). */
const window = 60_000;

/** Most identities and most kinds of refusal that are remembered; the one that has been away longest goes first. */
const mostRemembered = 2_000;

export interface AuthLogPorts {
  clock: Clock;
  /** Writes an event to the audit log. */
  record: (event: AuditEvent) => Promise<void>;
}

/** Refusals of one kind since the first of them was written. */
interface Folded {
  count: number;
  latest: AuditEvent | null;
  timer: unknown;
}

/**
 * Records authentications in the audit log, limited so that neither constant reads nor guessed tokens fill it
 * (docs/contract/authentication.md). No request waits for it.
 */
export class AuthLog {
  readonly #ports: AuthLogPorts;
  readonly #readers = new LRUCache<string, number>({ max: mostRemembered });
  readonly #refused = new LRUCache<string, Folded>({
    max: mostRemembered,
    dispose: (folded) => void this.#write(folded),
  });

  constructor(ports: AuthLogPorts) {
    this.#ports = ports;
  }

  /** Records a success. */
  letIn(event: AuditEvent): void {
    void this.#record(event);
  }

  /** Records a success of a read, once a minute for each `identity`. */
  letInToRead(identity: string, event: () => AuditEvent): void {
    const now = this.#ports.clock.now();
    const writtenAt = this.#readers.get(identity);
    if (writtenAt !== undefined && now - writtenAt < window) return;
    this.#readers.set(identity, now);
    void this.#record(event());
  }

  /** Records a refusal, or counts it within a minute of the last one of the same `kind`. */
  refused(kind: string, event: AuditEvent): void {
    const folded = this.#refused.get(kind);
    if (folded !== undefined) {
      folded.count += 1;
      folded.latest = event;
      return;
    }
    const timer = this.#ports.clock.setTimeout(() => this.#refused.delete(kind), window);
    this.#refused.set(kind, { count: 0, latest: null, timer });
    void this.#record(event);
  }

  /** Records the pending counts; resolves once they are recorded, or cannot be. */
  async flush(): Promise<void> {
    const open = [...this.#refused.values()];
    const written = open.map((folded) => this.#write(folded));
    this.#refused.clear();
    await Promise.all(written);
  }

  /** Writes one line for all that were counted; the second time there are none. */
  async #write(folded: Folded): Promise<void> {
    const { clock } = this.#ports;
    clock.clearTimeout(folded.timer);
    const { latest, count } = folded;
    folded.latest = null;
    if (latest === null) return;
    const ts = new Date(clock.now()).toISOString();
    await this.#record({ ...latest, ts, fields: { ...latest.fields, count } });
  }

  /** The store keeps in mind that it could not write, and then refuses new work (docs/contract/audit.md). */
  async #record(event: AuditEvent): Promise<void> {
    await this.#ports.record(event).catch(() => undefined);
  }
}
