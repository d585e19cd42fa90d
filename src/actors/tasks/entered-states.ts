import type { Task, TaskState } from '../../machines/domain/task.ts';
import {
  type DescribedSnapshot,
  describeTask,
  stateOf,
} from '../../machines/task/describe-task.ts';

interface Entered {
  state: TaskState;
  snapshot: DescribedSnapshot;
  /** Epoch milliseconds. */
  at: number;
}

/** States that a task left again before it was saved; described on demand, since they are rarely needed. */
export interface PassedStates {
  count: number;
  /** Returns the task as it was in each of these states. */
  describe(): Task[];
}

/**
 * States entered since the task's last commit. One event-loop turn may pass several states; only the last is saved, but
 * followers of the task are notified of each.
 */
export class EnteredStates {
  #state: TaskState | null;
  #entered: Entered[] = [];

  /** `state` is the stored state; `null` for a new task or run. */
  constructor(state: TaskState | null) {
    this.#state = state;
  }

  /** Processes a snapshot at a time in epoch milliseconds. */
  see(snapshot: DescribedSnapshot, at: number): void {
    const state = stateOf(snapshot);
    if (state === this.#state) return;
    this.#state = state;
    this.#entered.push({ state, snapshot, at });
  }

  /**
   * Returns and clears the states left again before the task was saved in `saved`; their revisions follow `revision`.
   */
  passed(before: Task | null, revision: number, saved: TaskState): PassedStates {
    const entered = this.#entered;
    this.#entered = [];
    if (entered.at(-1)?.state === saved) entered.pop();
    const describe = () =>
      entered.map(({ snapshot, at }, index) =>
        // Each one differs in state from its predecessor.
        describeTask(snapshot, at, revision + index + 1, index === 0 ? before : null),
      );
    return { count: entered.length, describe };
  }
}
