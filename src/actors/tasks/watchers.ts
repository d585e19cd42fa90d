import { isFinal, type Task } from '../../machines/task/task.ts';
import type { ToolProgress } from '../ports.ts';
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
  /** The call that runs has come so far. */
  onToolProgress?(report: ToolProgress): void;
  /** The model has said more in a turn. */
  onSpoken?(turn: SpokenTurn): void;
  /** The task can no longer be followed from here. */
  onLost(error: Error): void;
}

/** Hears of a change of any task, with the task before it; `null` for the first change. */
export type ChangeListener = (task: Task, before: Task | null) => void;

/** Who follows which task. */
export class Watchers {
  readonly #latestRun: (id: string, signal: AbortSignal) => Promise<Task | undefined>;
  readonly #byTask = new Map<string, Set<Watcher>>();
  readonly #ofAll: ChangeListener[] = [];
  /** Those who hear of what other daemons have committed as well. */
  readonly #ofEach = new Set<(task: Task) => void>();
  readonly #spoken = new Map<string, SpokenTurn>();

  /**
   * `latestRun` returns the latest run of a task as it stands on disk; `undefined` as long as nothing of it does. The
   * signal ends it once nobody waits for it.
   */
  constructor(latestRun: (id: string, signal: AbortSignal) => Promise<Task | undefined>) {
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

  /** Has somebody hear of every change of a task, whichever daemon has committed it; the returned function stops it. Must not throw. */
  onEachChange(hear: (task: Task) => void): () => void {
    this.#ofEach.add(hear);
    return () => this.#ofEach.delete(hear);
  }

  /**
   * Resolves with a task once it is final, or `isEnough`. Rejects with the signal's reason,
   * or with SystemError when the task can no longer be followed from here.
   */
  settled(
    id: string,
    signal: AbortSignal,
    isEnough: (task: Task) => boolean = ({ state }) => isFinal(state),
  ): Promise<Task> {
    return new Promise((resolve, reject) => {
      const left = new AbortController();
      const leave = (): void => {
        left.abort();
        unwatch();
        signal.removeEventListener('abort', abort);
      };
      const see = (task: Task | undefined): void => {
        if (task === undefined || !isEnough(task)) return;
        leave();
        resolve(task);
      };
      const lose = (reason: unknown): void => {
        leave();
        reject(reason);
      };
      const abort = (): void => lose(signal.reason);
      const unwatch = this.watch(id, { onTask: see, onLost: lose });
      signal.addEventListener('abort', abort);
      // What changes while it is read is heard all the same.
      this.#latestRun(id, left.signal).then((task) => {
        see(task);
        // Who comes with a signal that has gone off is still told of a task that is there already.
        if (signal.aborted) abort();
      }, lose);
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
    for (const hear of this.#ofEach) hear(task);
  }

  /** Tells the watchers of a task of a change that another daemon has committed. */
  changedElsewhere(task: Task): void {
    for (const watcher of this.#of(task.id)) watcher.onTask(task);
    for (const hear of this.#ofEach) hear(task);
  }

  /** Tells whether anybody follows a task, or every one. */
  follows(id: string): boolean {
    return this.#byTask.has(id) || this.#ofEach.size > 0;
  }

  /** Shows every watcher of a task what it does. */
  progressed(id: string, progress: Progress): void {
    for (const watcher of this.#of(id)) watcher.onProgress?.(progress);
  }

  /** Shows every watcher of a task how far its call has come. */
  reported(id: string, report: ToolProgress): void {
    for (const watcher of this.#of(id)) watcher.onToolProgress?.(report);
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
