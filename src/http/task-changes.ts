import type { FeedChange, TaskSystem } from '../actors/tasks/tasks.ts';
import type { Task } from '../machines/domain/task.ts';
import { isWithin, type TaskScope } from '../machines/task/task-access.ts';

/** A change of a task, as visible to one caller. */
export interface SeenChange {
  position: number;
  taskId: string;
  /** The task; `null` if the caller may no longer see it. */
  task: Task | null;
  /** The change of its wait: a call started or stopped waiting for a decision; `null` if neither. */
  wait: 'asked' | 'over' | null;
}

/** A follower of the tasks that a caller may see. */
export interface ChangesFollower {
  onChange(change: SeenChange): void;
  /** Called when this process sends no further changes. */
  onEnd(): void;
}

/**
 * The changes of the tasks in a scope (docs/contract/authentication.md). An approver who may no longer see the task is
 * still notified that its call has stopped waiting.
 */
export class TaskChanges {
  readonly #system: TaskSystem;
  readonly #scope: TaskScope;

  constructor(system: TaskSystem, scope: TaskScope) {
    this.#system = system;
    this.#scope = scope;
  }

  /** The current position. */
  get position(): string {
    return this.idOf(this.#system.feed.position);
  }

  /** Formats a position as an event ID. */
  idOf(position: number): string {
    return `${this.#system.feed.epoch}.${position}`;
  }

  /** Follows the tasks from now on; returns a function that stops it. */
  follow(follower: ChangesFollower): () => void {
    return this.#system.feed.follow({
      onEnd: () => follower.onEnd(),
      onChange: (change) => {
        const seen = this.#seen(change);
        if (seen !== null) follower.onChange(seen);
      },
    });
  }

  /** Returns the changes of the tasks since an event; `null` if the event's position is unknown. */
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
