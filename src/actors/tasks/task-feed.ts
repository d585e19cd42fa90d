import { randomUUID } from 'node:crypto';
import type { Task } from '../../machines/domain/task.ts';
import type { OwnedTask } from '../../machines/task/task-access.ts';
import type { Clock } from '../ports/clock.ts';
import { waitedIn } from '../records/records.ts';

/** Maximum tasks whose last change is remembered, so that followers can resume. */
const mostKnown = 1_000;

/** A committed change of a task; several within one event-loop turn are merged into the last. */
export interface FeedChange {
  /** Its position in the feed. */
  position: number;
  task: Task;
  /** Owner data of the task while its call was held, if the change ended the wait; `null` otherwise. */
  waited: OwnedTask | null;
  /** True if a call waits, and the wait or the part of it that approvers see is new. */
  isAsked: boolean;
}

/** The remembered part of a change. */
export interface KnownChange {
  taskId: string;
  position: number;
  waited: OwnedTask | null;
}

/** A follower of all tasks; neither function may throw. */
export interface FeedFollower {
  onChange(change: FeedChange): void;
  /** This process will emit no further changes. */
  onEnd(): void;
}

interface Pending {
  before: Task | null;
  task: Task;
  /** `waited` as reported by another daemon; absent for a change of this one. */
  waited?: OwnedTask | null;
}

/**
 * Changes of all tasks, for followers of every task. A position is a time in microseconds, so it reveals nothing about
 * the number of other users' changes.
 */
export class TaskFeed {
  /** Identifies this process; positions of another process are invalid here. */
  readonly epoch = randomUUID().slice(0, 8);
  readonly #clock: Clock;
  readonly #followers = new Set<FeedFollower>();
  /** Latest change of each task, ordered by position. */
  readonly #known = new Map<string, KnownChange>();
  #pending = new Map<string, Pending>();
  #position: number;
  /** Last position whose change may have been forgotten. */
  #forgotten: number;
  #isOver = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#position = clock.now() * 1_000;
    this.#forgotten = this.#position - 1;
  }

  /** Current position of the feed. */
  get position(): number {
    return this.#position;
  }

  /** Number of followers. */
  get followers(): number {
    return this.#followers.size;
  }

  /** Processes a committed change of a task; `before` is the previous version. */
  changed(task: Task, before: Task | null): void {
    const first = this.#pending.get(task.id)?.before;
    if (this.#pending.size === 0) setImmediate(() => this.#tell());
    this.#pending.set(task.id, { task, before: first === undefined ? before : first });
  }

  /** Processes a change committed by another daemon; `task` is `null` if there are no followers. */
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

  /** Adds a follower of every task; the returned function removes it. */
  follow(follower: FeedFollower): () => void {
    if (this.#isOver) queueMicrotask(() => follower.onEnd());
    else this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Returns the tasks changed since a position; `null` if the position is too old or unknown. */
  since(position: number): KnownChange[] | null {
    if (position < this.#forgotten || position > this.#position) return null;
    return [...this.#known.values()].filter((change) => change.position > position);
  }

  /** Ends the feed for every follower. */
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
    // Leaves the preceding position free for an event that followers receive before the change.
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
