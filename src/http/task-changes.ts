import type { FeedChange, TaskSystem } from '../actors/tasks/tasks.ts';
import type { Task } from '../machines/task/task.ts';
import { isWithin, type TaskScope } from '../machines/task/task-access.ts';

/** A change of a task, as far as one caller may know of it. */
export interface SeenChange {
  position: number;
  taskId: string;
  /** The task; `null` when the caller may not know of it any more. */
  task: Task | null;
  /** What of its wait is new: a call waits for a decision, or does no more; `null` for nothing. */
  wait: 'asked' | 'over' | null;
}

/** Somebody who follows the tasks that a caller may know of. */
export interface ChangesFollower {
  onChange(change: SeenChange): void;
  /** Nothing more comes from this process. */
  onEnd(): void;
}

/**
 * The changes of the tasks in a scope (docs/contract/authentication.md). Who was asked to decide, and may know of the
 * task no more, still hears that the call waits no longer.
 */
export class TaskChanges {
  readonly #system: TaskSystem;
  readonly #scope: TaskScope;

  constructor(system: TaskSystem, scope: TaskScope) {
    this.#system = system;
    this.#scope = scope;
  }

  /** The position now. */
  get position(): string {
    return this.idOf(this.#system.feed.position);
  }

  /** Writes a position as the id of an event. */
  idOf(position: number): string {
    return `${this.#system.feed.epoch}.${position}`;
  }

  /** Follows the tasks from now on; the returned function stops it. */
  follow(follower: ChangesFollower): () => void {
    return this.#system.feed.follow({
      onEnd: () => follower.onEnd(),
      onChange: (change) => {
        const seen = this.#seen(change);
        if (seen !== null) follower.onChange(seen);
      },
    });
  }

  /** Returns what has become of the tasks since an event; `null` when nobody knows where that stood. */
  async since(id: string): Promise<SeenChange[] | null> {
    const [, epoch, position] = /^([0-9a-f]{8})\.(\d{1,16})$/.exec(id) ?? [];
    const { feed } = this.#system;
    const known = epoch === feed.epoch ? feed.since(Number(position)) : null;
    if (known === null) return null;
    const changes: SeenChange[] = [];
    for (const change of known) {
      const task = await this.#system.reads.find(change.taskId);
      if (task === undefined) continue;
      const seen = this.#seen({ ...change, task, isAsked: task.deferral !== null });
      if (seen !== null) changes.push(seen);
    }
    return changes;
  }

  #seen({ position, task, waited, isAsked }: FeedChange): SeenChange | null {
    const isVisible = isWithin(this.#scope, task);
    const isOver = waited !== null && (isVisible || isWithin(this.#scope, waited));
    if (!isVisible && !isOver) return null;
    const wait = isVisible && isAsked ? 'asked' : isOver ? 'over' : null;
    return { position, taskId: task.id, task: isVisible ? task : null, wait };
  }
}
