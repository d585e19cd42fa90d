import type { Job, PgBoss } from 'pg-boss';

/** One attempt of a job; only its owner may complete or extend it. */
type Attempt = Pick<Job, 'id' | 'retryCount'>;

/** Ports for keeping jobs alive. */
export interface HeldJobsPorts {
  boss: Pick<PgBoss, 'touch'>;
  queue: string;
}

/** The running jobs of this daemon, for which it sends heartbeats. */
export class HeldJobs {
  readonly #ports: HeldJobsPorts;
  readonly #attempts = new Map<string, number>();

  constructor(ports: HeldJobsPorts) {
    this.#ports = ports;
  }

  /** Adds jobs assigned to this daemon. */
  begin(jobs: readonly Attempt[]): void {
    for (const { id, retryCount } of jobs) this.#attempts.set(id, retryCount);
  }

  /** Removes jobs. */
  end(ids: readonly string[]): void {
    for (const id of ids) this.#attempts.delete(id);
  }

  /** Returns whether this attempt of a job is held. */
  isHeld({ id, retryCount }: Attempt): boolean {
    return this.#attempts.get(id) === retryCount;
  }

  /** Removes this attempt of a job, unless a later one has replaced it. */
  forget(attempt: Attempt): void {
    if (this.isHeld(attempt)) this.#attempts.delete(attempt.id);
  }

  /**
   * Sends a heartbeat for every job; has no effect on a job reassigned to another daemon. Rejects when the engine is
   * unreachable.
   */
  async touch(): Promise<void> {
    const attempts = [...this.#attempts].map(([id, retryCount]) => ({ id, retryCount }));
    if (attempts.length > 0) await this.#ports.boss.touch(this.#ports.queue, attempts);
  }
}
