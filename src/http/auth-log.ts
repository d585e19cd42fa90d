import { LRUCache } from 'lru-cache';
import type { AuditEvent } from '../actors/ports/audit-event.ts';
import type { Clock } from '../actors/ports/clock.ts';

/** Milliseconds during which similar events are combined into one line (docs/contract/authentication.md). */
const window = 60_000;

/**
 * Maximum number of remembered identities and of remembered refusal kinds. The least recently seen entry is evicted
 * first.
 */
const mostRemembered = 2_000;

export interface AuthLogPorts {
  clock: Clock;
  /** Writes an event to the audit log. */
  record: (event: AuditEvent) => Promise<void>;
}

/** The refusals of one kind since the first one was written. */
interface Folded {
  count: number;
  latest: AuditEvent | null;
  timer: unknown;
}

/**
 * Records authentications in the audit log. Rate-limited, so neither constant reads nor guessed tokens fill the log
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

  /** Records a successful authentication. */
  letIn(event: AuditEvent): void {
    void this.#record(event);
  }

  /** Records a successful authentication of a read, at most once a minute per `identity`. */
  letInToRead(identity: string, event: () => AuditEvent): void {
    const now = this.#ports.clock.now();
    const writtenAt = this.#readers.get(identity);
    if (writtenAt !== undefined && now - writtenAt < window) return;
    this.#readers.set(identity, now);
    void this.#record(event());
  }

  /** Records a refusal, or counts it if the last refusal of the same `kind` is less than a minute old. */
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

  /** Writes the pending counts; resolves once they are written or have failed. */
  async flush(): Promise<void> {
    const open = [...this.#refused.values()];
    const written = open.map((folded) => this.#write(folded));
    this.#refused.clear();
    await Promise.all(written);
  }

  /** Writes one line for all counted refusals; a second call finds none. */
  async #write(folded: Folded): Promise<void> {
    const { clock } = this.#ports;
    clock.clearTimeout(folded.timer);
    const { latest, count } = folded;
    folded.latest = null;
    if (latest === null) return;
    const ts = new Date(clock.now()).toISOString();
    await this.#record({ ...latest, ts, fields: { ...latest.fields, count } });
  }

  /** On failure, the store remembers the error and rejects new tasks (docs/contract/audit.md). */
  async #record(event: AuditEvent): Promise<void> {
    await this.#ports.record(event).catch(() => undefined);
  }
}
