import { randomUUID } from 'node:crypto';
import type { Task } from '../../machines/task/task.ts';
import type { OwnedTask } from '../../machines/task/task-access.ts';
import type { Clock } from '../ports.ts';
import { waitedIn } from '../records/records.ts';

/** Tasks whose last change is known, so that a follower may go on after it. */
const mostKnown = 1_000;

/** A change of a task that is on disk; of several in one turn of the event loop the last. */
export interface FeedChange {
  /** Where in the feed it stands. */
  position: number;
  task: Task;
  /** Whose the task was while a call of it waited that waits no more; `null` when none did. */
  waited: OwnedTask | null;
  /** True when a call waits now, and that is new, or what its approvers see of it is. */
  isAsked: boolean;
}

/** What is remembered of a change. */
export interface KnownChange {
  taskId: string;
  position: number;
  waited: OwnedTask | null;
}

/** Somebody who follows all tasks; neither function may throw. */
export interface FeedFollower {
  onChange(change: FeedChange): void;
  /** Nothing more comes from this process. */
  onEnd(): void;
}

interface Pending {
  before: Task | null;
  task: Task;
  /** What another daemon says of the wait that ended; absent for a change of this one. */
  waited?: OwnedTask | null;
}

/**
 * The changes of all tasks, for whoever follows every one of them. A position is a time in microseconds, so that it
 * tells nobody how much happens to the tasks of others.
 */
export class TaskFeed {
  /** Names this process: a position of another one means nothing here. */
  readonly epoch = randomUUID().slice(0, 8);
  readonly #clock: Clock;
  readonly #followers = new Set<FeedFollower>();
  /** The latest change of each task, in the order of their positions. */
  readonly #known = new Map<string, KnownChange>();
  #pending = new Map<string, Pending>();
  #position: number;
  /** The last position of which a change may have been forgotten. */
  #forgotten: number;
  #isOver = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#position = clock.now() * 1_000;
    this.#forgotten = this.#position - 1;
  }

  /** Where the feed stands. */
  get position(): number {
    return this.#position;
  }

  /** How many follow. */
  get followers(): number {
    return this.#followers.size;
  }

  /** Takes in a change of a task that is on disk, with the task before it. */
  changed(task: Task, before: Task | null): void {
    const first = this.#pending.get(task.id)?.before;
    if (this.#pending.size === 0) setImmediate(() => this.#tell());
    this.#pending.set(task.id, { task, before: first === undefined ? before : first });
  }

  /** Takes in a change that another daemon has committed; `task` is `null` while nobody follows. */
  changedElsewhere({ taskId, waited }: Omit<KnownChange, 'position'>, task: Task | null): void {
    if (task === null) {
      this.#remember(taskId, waited);
      return;
    }
    const before = this.#pending.get(taskId);
    if (this.#pending.size === 0) setImmediate(() => this.#tell());
    const ended = waited ?? before?.waited ?? (before && waitedIn(before.before, task)) ?? null;
    this.#pending.set(taskId, { task, before: null, waited: ended });
  }

  /** Follows every task from now on; the returned function stops it. */
  follow(follower: FeedFollower): () => void {
    if (this.#isOver) queueMicrotask(() => follower.onEnd());
    else this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Returns the tasks that have changed since a position; `null` when that is not known any more, or never was. */
  since(position: number): KnownChange[] | null {
    if (position < this.#forgotten || position > this.#position) return null;
    return [...this.#known.values()].filter((change) => change.position > position);
  }

  /** Lets go of every follower. */
  end(): void {
    this.#tell();
    this.#isOver = true;
    for (const follower of [...this.#followers]) follower.onEnd();
    this.#followers.clear();
  }

  #tell(): void {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const { task, before, waited: told } of pending.values()) {
      if (isShownAlike(before, task)) continue;
      const waited = told === undefined ? waitedIn(before, task) : told;
      const position = this.#remember(task.id, waited);
      const change = { position, task, waited, isAsked: isAsked(before, task) };
      for (const follower of [...this.#followers]) follower.onChange(change);
    }
  }

  #remember(taskId: string, waited: OwnedTask | null): number {
    // The position before it is free, for what a follower is told first of the change.
    this.#position = Math.max(this.#position + 2, this.#clock.now() * 1_000);
    const position = this.#position;
    const known = this.#known.get(taskId);
    this.#known.delete(taskId);
    this.#known.set(taskId, { taskId, position, waited: waited ?? known?.waited ?? null });
    if (this.#known.size > mostKnown) this.#forgetOldest();
    return position;
  }

  #forgetOldest(): void {
    const [oldest] = this.#known.values();
    if (oldest === undefined) return;
    this.#known.delete(oldest.taskId);
    this.#forgotten = oldest.position;
  }
}

function isShownAlike(before: Task | null, task: Task): boolean {
  return (
    before !== null &&
    before.state === task.state &&
    before.text === task.text &&
    isSameWait(before, task)
  );
}

function isSameWait(before: Task | null, { deferral, stage }: Task): boolean {
  return (
    before?.deferral?.id === deferral?.id &&
    before?.deferral?.approvals.length === deferral?.approvals.length &&
    before?.deferral?.messages?.length === deferral?.messages?.length &&
    before?.deferral?.requests === deferral?.requests &&
    (before?.stage ?? null) === stage
  );
}

function isAsked(before: Task | null, task: Task): boolean {
  return task.deferral !== null && !isSameWait(before, task);
}
