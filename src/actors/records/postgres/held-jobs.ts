import type { Job, PgBoss } from 'pg-boss';

/** One try at a job: only who has made it may speak for it. */
type Attempt = Pick<Job, 'id' | 'retryCount'>;

/** What keeping jobs alive needs. */
export interface HeldJobsPorts {
  boss: Pick<PgBoss, 'touch'>;
  queue: string;
}

/** The jobs that this daemon has at work, of which it gives signs of life. */
export class HeldJobs {
  readonly #ports: HeldJobsPorts;
  readonly #attempts = new Map<string, number>();

  constructor(ports: HeldJobsPorts) {
    this.#ports = ports;
  }

  /** Holds jobs that were given to this daemon. */
  begin(jobs: readonly Attempt[]): void {
    for (const { id, retryCount } of jobs) this.#attempts.set(id, retryCount);
  }

  /** Holds jobs no more. */
  end(ids: readonly string[]): void {
    for (const id of ids) this.#attempts.delete(id);
  }

  /** Tells whether this try at a job is the one that is held. */
  isHeld({ id, retryCount }: Attempt): boolean {
    return this.#attempts.get(id) === retryCount;
  }

  /** Holds a try at a job no more, whatever came in its place. */
  forget(attempt: Attempt): void {
    if (this.isHeld(attempt)) this.#attempts.delete(attempt.id);
  }

  /** Gives a sign of life for every job; one that is somebody else's by now has none of it. Rejects when the engine cannot be asked. */
  async touch(): Promise<void> {
    const attempts = [...this.#attempts].map(([id, retryCount]) => ({ id, retryCount }));
    if (attempts.length > 0) await this.#ports.boss.touch(this.#ports.queue, attempts);
  }
}
