import { type Every, everyInterval } from '../every.ts';
import type { Clock } from '../ports.ts';
import type { TaskStore } from '../records/records.ts';
import type { LiveTask } from './live-task.ts';

/** How often live tasks are looked after, in milliseconds. */
const lookEvery = 1_000;

/** What looking after live tasks needs. */
export interface UpkeepPorts {
  store: Pick<TaskStore, 'isWritable'>;
  clock: Clock;
  /** The time of this machine when absent. */
  every?: Every;
  /** How long a parked task that nobody follows stays in memory, in milliseconds. */
  restAfter: number;
  live: ReadonlyMap<string, LiveTask>;
  /** Puts a task to rest in the store. */
  rest: (task: LiveTask) => void;
  /** Has a task go on. */
  wake: (id: string) => void;
}

/**
 * Looks after the live tasks every second: puts parked ones to rest, goes on with those that the disk did not take,
 * and ends runs that take too long.
 */
export class Upkeep {
  readonly #ports: UpkeepPorts;
  /** Parked tasks, with the time since when; in the order of that time. */
  readonly #parked = new Map<string, number>();
  /** Tasks that were let go of because the disk did not take them. */
  readonly #unrecorded = new Set<string>();
  #stopLooking: () => void = () => undefined;

  constructor(ports: UpkeepPorts) {
    this.#ports = ports;
  }

  /** Looks after the tasks from now on. */
  start(): void {
    const { every = everyInterval } = this.#ports;
    this.#stopLooking = every(lookEvery, () => this.#lookAround());
  }

  /** Marks a task that is parked from now on, or still. */
  noticeParked(task: LiveTask): void {
    this.#parked.delete(task.id);
    const { live, clock } = this.#ports;
    if (task.committed?.state !== 'deferred' || live.get(task.id) !== task) return;
    this.#parked.set(task.id, clock.now());
  }

  /** Marks a task that is to go on once the disk takes it. */
  noticeUnrecorded(id: string): void {
    this.#unrecorded.add(id);
  }

  /** Looks no more after a task that rests. */
  forget(id: string): void {
    this.#parked.delete(id);
  }

  /** Looks after nothing any more. */
  stop(): void {
    this.#stopLooking();
  }

  #lookAround(): void {
    this.#restParked();
    this.#resumeUnrecorded();
    this.#endOverruns();
  }

  /** Whoever follows a task at rest is told what happens all the same. */
  #restParked(): void {
    const { live, clock, restAfter, rest } = this.#ports;
    const until = clock.now() - restAfter;
    for (const [id, since] of this.#parked) {
      if (since > until) return;
      const task = live.get(id);
      // What it waits to save may end its wait; it is looked at again next time.
      if (task?.isSaving === true) continue;
      this.#parked.delete(id);
      if (task?.committed?.state === 'deferred') rest(task);
    }
  }

  #resumeUnrecorded(): void {
    const { store, wake } = this.#ports;
    if (this.#unrecorded.size === 0 || !store.isWritable()) return;
    const ids = [...this.#unrecorded];
    this.#unrecorded.clear();
    for (const id of ids) wake(id);
  }

  #endOverruns(): void {
    const { live, clock } = this.#ports;
    const at = clock.now();
    for (const task of [...live.values()]) task.endOverrun(at);
  }
}
