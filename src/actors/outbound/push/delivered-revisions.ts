import { LRUCache } from 'lru-cache';
import { isFinal, type Task } from '../../../machines/domain/task.ts';
import { NewestWrites } from '../../newest-writes.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { PushTarget } from '../../ports/push.ts';
import type { PushRows } from '../../records/records.ts';

interface RevisionPorts {
  rows: Pick<PushRows, 'keepTold'>;
  clock: Clock;
  log: Log;
}

type Key = Pick<PushTarget, 'taskId' | 'id'>;

/** Maximum remembered receivers without a running write. */
const mostRemembered = 1_000;

/**
 * The last delivered or skipped revision of each receiver, in memory at once and in the store soon. A change may be
 * reported after it has already been read from the store.
 */
export class DeliveredRevisions {
  readonly #ports: RevisionPorts;
  readonly #writes: NewestWrites;
  readonly #latest = new LRUCache<string, number>({ max: mostRemembered });

  constructor(ports: RevisionPorts) {
    this.#ports = ports;
    this.#writes = new NewestWrites(ports.clock);
  }

  /** Returns the last revision of a receiver since the start; 0 for none. */
  of(key: Key): number {
    return this.#latest.get(nameOf(key)) ?? 0;
  }

  keep(target: PushTarget, { revision, state }: Task): void {
    const { rows, log } = this.#ports;
    const name = nameOf(target);
    this.#latest.set(name, revision);
    this.#writes.keep(
      name,
      () => rows.keepTold(target, revision, isFinal(state)),
      (error) => log.error({ error, task_id: target.taskId }, 'push: the store failed'),
    );
  }

  forget(key: Key): void {
    this.#writes.forget(nameOf(key));
    this.#latest.delete(nameOf(key));
  }

  /** Resolves when the running write of a receiver has succeeded or failed. Never rejects. */
  written(key: Key): Promise<void> {
    return this.#writes.answered(nameOf(key));
  }

  /** Resolves once every revision is stored, or after five seconds. */
  stop(): Promise<void> {
    return this.#writes.stop();
  }
}

/** Returns a key that is unique across all tasks; task ids contain no spaces. */
function nameOf({ taskId, id }: Key): string {
  return `${taskId} ${id}`;
}
