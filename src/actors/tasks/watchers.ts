import { isFinal, type Task, type TaskState } from '../../machines/task/task.ts';
import type { PassedStates } from './entered-states.ts';
import type { Speaker, SpokenTurn } from './spoken-turn.ts';

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
  /** The model has said more in a turn. */
  onSpoken?(turn: SpokenTurn): void;
  /** The task can no longer be followed from here. */
  onLost(error: Error): void;
}

/** Hears of a change of any task, with the task before it; `null` for the first change. */
export type ChangeListener = (task: Task, before: Task | null) => void;

/** Who follows which task. */
export class Watchers {
  readonly #latestRun: (id: string) => Task | undefined;
  readonly #byTask = new Map<string, Set<Watcher>>();
  readonly #ofAll: ChangeListener[] = [];
  readonly #spoken = new Map<string, SpokenTurn>();

  /** `latestRun` returns the latest run of a task as it stands on disk; `undefined` as long as nothing of it does. */
  constructor(latestRun: (id: string) => Task | undefined) {
    this.#latestRun = latestRun;
  }

  /** Follows a task; the returned function stops it. A task at rest stays at rest. */
  watch(id: string, watcher: Watcher): () => void {
    const watchers = this.#byTask.get(id) ?? new Set();
    this.#byTask.set(id, watchers.add(watcher));
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      if (this.#byTask.get(id) === watchers) this.#byTask.delete(id);
    };
  }

  /** Has somebody hear of every change of a task that is on disk, from now on; must not throw. */
  onChanged(hear: ChangeListener): void {
    this.#ofAll.push(hear);
  }

  /**
   * Resolves with a task once it is final, or in a state that `isEnough`. Rejects with the signal's reason,
   * or with SystemError when the task can no longer be followed from here.
   */
  settled(
    id: string,
    signal: AbortSignal,
    isEnough: (state: TaskState) => boolean = isFinal,
  ): Promise<Task> {
    const present = this.#latestRun(id);
    if (present !== undefined && isEnough(present.state)) return Promise.resolve(present);
    return new Promise((resolve, reject) => {
      const leave = this.watch(id, {
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

  /** Tells the watchers who want to hear of it how a task stood between two saves. */
  passed(id: string, passed: PassedStates): void {
    if (passed.count === 0 || !this.#of(id).some((watcher) => 'onStep' in watcher)) return;
    for (const step of passed.describe()) {
      for (const watcher of this.#of(id)) watcher.onStep?.(step);
    }
  }

  /** Tells every watcher of a task, and whoever follows all, that it has changed. */
  changed(task: Task, before: Task | null): void {
    for (const watcher of this.#of(task.id)) watcher.onTask(task);
    for (const hear of this.#ofAll) hear(task, before);
  }

  /** Shows every watcher of a task what it does. */
  progressed(id: string, progress: Progress): void {
    for (const watcher of this.#of(id)) watcher.onProgress?.(progress);
  }

  /** Begins a turn of a task's model, which every watcher of the task hears. */
  speak(id: string): Speaker {
    const pieces: string[] = [];
    const turn = { pieces, isOver: false };
    this.#spoken.set(id, turn);
    return {
      say: (text) => {
        pieces.push(text);
        for (const watcher of this.#of(id)) {
          watcher.onProgress?.({ phase: 'token', text });
          watcher.onSpoken?.(turn);
        }
      },
      end: () => {
        turn.isOver = true;
        if (this.#spoken.get(id) === turn) this.#spoken.delete(id);
      },
    };
  }

  /** Returns the turn that the model of a task is taking. */
  spoken(id: string): SpokenTurn | undefined {
    return this.#spoken.get(id);
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
