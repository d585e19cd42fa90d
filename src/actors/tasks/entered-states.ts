import {
  type DescribedSnapshot,
  describeTask,
  stateOf,
} from '../../machines/task/describe-task.ts';
import type { Task, TaskState } from '../../machines/task/task.ts';

interface Entered {
  state: TaskState;
  snapshot: DescribedSnapshot;
  /** Epoch milliseconds. */
  at: number;
}

/** The states that a task left again before it was saved; nobody may ask, so they are described on demand. */
export interface PassedStates {
  count: number;
  /** Returns the task as it stood in each of them. */
  describe(): Task[];
}

/**
 * The states that a task has entered since its last commit. One turn of the event loop may lead through
 * several; the last of them alone is saved, and whoever follows the task is still told each.
 */
export class EnteredStates {
  #state: TaskState | null;
  #entered: Entered[] = [];

  /** `state` is the one on disk; `null` before there is any, and for a new run. */
  constructor(state: TaskState | null) {
    this.#state = state;
  }

  /** Takes in where the task stands, at a time in epoch milliseconds. */
  see(snapshot: DescribedSnapshot, at: number): void {
    const state = stateOf(snapshot);
    if (state === this.#state) return;
    this.#state = state;
    this.#entered.push({ state, snapshot, at });
  }

  /** Takes out the states that the task left again before it was saved in `saved`; revisions go on from `revision`. */
  passed(before: Task | null, revision: number, saved: TaskState): PassedStates {
    const entered = this.#entered;
    this.#entered = [];
    if (entered.at(-1)?.state === saved) entered.pop();
    const describe = () =>
      entered.map(({ snapshot, at }, index) =>
        // Each differs in its state from the one before it.
        describeTask(snapshot, at, revision + index + 1, index === 0 ? before : null),
      );
    return { count: entered.length, describe };
  }
}
