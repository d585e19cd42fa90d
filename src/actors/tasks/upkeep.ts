import { type Every, everyInterval } from '../every.ts';
import type { Clock } from '../ports/clock.ts';
import type { TaskStore } from '../records/records.ts';
import type { LiveTask } from './live-task.ts';

/** Interval of maintenance, in milliseconds. */
const lookEvery = 1_000;

export interface UpkeepPorts {
  store: Pick<TaskStore, 'isWritable'>;
  clock: Clock;
  /** This machine's timers when absent. */
  every?: Every;
  /** Time after which a parked task without followers is unloaded from memory, in milliseconds. */
  restAfter: number;
  live: ReadonlyMap<string, LiveTask>;
  /** Unloads a task to the store. */
  rest: (task: LiveTask) => void;
  /** Resumes a task. */
  wake: (id: string) => void;
}

/**
 * Maintains the live tasks every second: unloads parked ones, resumes tasks whose save failed, and ends runs that
 * exceed their time limit.
 */
export class Upkeep {
  readonly #ports: UpkeepPorts;
  /** Parked tasks with the time since when, in that order. */
  readonly #parked = new Map<string, number>();
  /** Tasks that were unloaded because their save failed. */
  readonly #unrecorded = new Set<string>();
  #stopLooking: () => void = () => undefined;

  constructor(ports: UpkeepPorts) {
    this.#ports = ports;
  }

  /** Starts maintenance. */
  start(): void {
    const { every = everyInterval } = this.#ports;
    this.#stopLooking = every(lookEvery, () => this.#lookAround());
  }

  /** Marks a task as parked from now on. */
  noticeParked(task: LiveTask): void {
    this.#parked.delete(task.id);
    const { live, clock } = this.#ports;
    if (task.committed?.state !== 'deferred' || live.get(task.id) !== task) return;
    this.#parked.set(task.id, clock.now());
  }

  /** Marks a task to be resumed when the disk accepts writes again. */
  noticeUnrecorded(id: string): void {
    this.#unrecorded.add(id);
  }

  /** Stops maintaining an unloaded task. */
  forget(id: string): void {
    this.#parked.delete(id);
  }

  /** Stops maintenance. */
  stop(): void {
    this.#stopLooking();
  }

  #lookAround(): void {
    this.#restParked();
    this.#resumeUnrecorded();
    this.#endOverruns();
  }

  /** Followers of an unloaded task are still notified of changes. */
  #restParked(): void {
    const { live, clock, restAfter, rest } = this.#ports;
    const until = clock.now() - restAfter;
    for (const [id, since] of this.#parked) {
      if (since > until) return;
      const task = live.get(id);
      // The pending save may end the wait; the task is checked again next time.
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
