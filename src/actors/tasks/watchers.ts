import type { Task, TaskState } from '../../machines/task/task.ts';

/** Something a task does that is worth showing and not worth keeping. */
export interface Progress {
  phase: 'tool_start' | 'tool_end' | 'token';
  tool?: string;
  text?: string;
}

/** Somebody who follows a task, such as a held request or an event stream. */
export interface Watcher {
  /** The task has changed, and the change is on disk. */
  onTask(task: Task): void;
  /** So the task stood on its way to a change that is on disk; heard before that. */
  onStep?(task: Task): void;
  onProgress?(progress: Progress): void;
  /** The task can no longer be followed from here. */
  onLost(error: Error): void;
}

/** Who follows which task. */
export class Watchers {
  readonly #byTask = new Map<string, Set<Watcher>>();

  /** Starts following a task; the returned function stops it. */
  add(id: string, watcher: Watcher): () => void {
    const watchers = this.#byTask.get(id) ?? new Set();
    this.#byTask.set(id, watchers.add(watcher));
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      if (this.#byTask.get(id) === watchers) this.#byTask.delete(id);
    };
  }

  /**
   * Resolves with a task once it has changed to a state that `isEnough`. Rejects with the signal's reason, or when
   * the task can no longer be followed.
   */
  until(id: string, signal: AbortSignal, isEnough: (state: TaskState) => boolean): Promise<Task> {
    return new Promise((resolve, reject) => {
      const leave = this.add(id, {
        onTask: (task) => isEnough(task.state) && done(() => resolve(task)),
        onLost: (error) => done(() => reject(error)),
      });
      const abort = (): void => done(() => reject(signal.reason));
      const done = (finish: () => void): void => {
        leave();
        signal.removeEventListener('abort', abort);
        finish();
      };
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
  }

  /** Tells whether anybody wants to hear of the states that a task passes between two saves. */
  wantsSteps(id: string): boolean {
    return this.#of(id).some((watcher) => watcher.onStep !== undefined);
  }

  /** Tells the watchers who want to hear of it how a task stood on its way. */
  passed(task: Task): void {
    for (const watcher of this.#of(task.id)) watcher.onStep?.(task);
  }

  /** Tells every watcher of a task that it has changed. */
  changed(task: Task): void {
    for (const watcher of this.#of(task.id)) watcher.onTask(task);
  }

  /** Shows every watcher of a task what it does. */
  progressed(id: string, progress: Progress): void {
    for (const watcher of this.#of(id)) watcher.onProgress?.(progress);
  }

  /** Tells every watcher of a task that it can no longer be followed. */
  lost(id: string, error: Error): void {
    for (const watcher of this.#of(id)) watcher.onLost(error);
  }

  /** Tells the watchers of all tasks for which `matches` holds. */
  lostAll(error: Error, matches: (id: string) => boolean): void {
    for (const id of [...this.#byTask.keys()]) if (matches(id)) this.lost(id, error);
  }

  #of(id: string): Watcher[] {
    const watchers = this.#byTask.get(id);
    return watchers === undefined ? [] : [...watchers];
  }
}
