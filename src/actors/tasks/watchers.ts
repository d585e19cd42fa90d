import { isFinal, type Task } from '../../machines/domain/task.ts';
import type { ToolProgress } from '../ports.ts';
import type { PassedStates } from './entered-states.ts';
import type { Speaker, SpokenTurn } from './spoken-turn.ts';

/** An activity of a task that is displayed but not stored. */
export interface Progress {
  phase: 'tool_start' | 'tool_end' | 'token';
  tool?: string;
  text?: string;
}

/** A follower of a task, such as a held request or an event stream. */
export interface Watcher {
  /** Called after a committed change of the task. */
  onTask(task: Task): void;
  /** Called for intermediate states of a change, before `onTask`. */
  onStep?(task: Task): void;
  onProgress?(progress: Progress): void;
  /** Called with the progress of the running call. */
  onToolProgress?(report: ToolProgress): void;
  /** Called when the model has produced more text in a turn. */
  onSpoken?(turn: SpokenTurn): void;
  /** Called when the task can no longer be followed from here. */
  onLost(error: Error): void;
}

/** Receives a change of any task with its previous version; `null` for the first change. */
export type ChangeListener = (task: Task, before: Task | null) => void;

/** The followers of each task. */
export class Watchers {
  readonly #latestRun: (id: string, signal: AbortSignal) => Promise<Task | undefined>;
  readonly #byTask = new Map<string, Set<Watcher>>();
  readonly #ofAll: ChangeListener[] = [];
  /** Listeners that also receive changes committed by other daemons. */
  readonly #ofEach = new Set<(task: Task) => void>();
  readonly #spoken = new Map<string, SpokenTurn>();

  /**
   * `latestRun` returns the latest run of a committed task; `undefined` until part of it is on disk. The signal aborts
   * when nothing waits for it any more.
   */
  constructor(latestRun: (id: string, signal: AbortSignal) => Promise<Task | undefined>) {
    this.#latestRun = latestRun;
  }

  /** Follows a task; the returned function stops it. Does not reload the task. */
  watch(id: string, watcher: Watcher): () => void {
    const watchers = this.#byTask.get(id) ?? new Set();
    this.#byTask.set(id, watchers.add(watcher));
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      if (this.#byTask.get(id) === watchers) this.#byTask.delete(id);
    };
  }

  /** Subscribes to every committed change of a task; the listener must not throw. */
  onChanged(hear: ChangeListener): void {
    this.#ofAll.push(hear);
  }

  /**
   * Subscribes to every change of a task by any daemon; the returned function unsubscribes. The listener must not
   * throw.
   */
  onEachChange(hear: (task: Task) => void): () => void {
    this.#ofEach.add(hear);
    return () => this.#ofEach.delete(hear);
  }

  /**
   * Resolves with a task once it is final or `isEnough` returns true. Rejects with the signal's reason, or with
   * SystemError if the task can no longer be followed from here.
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
      // Changes during the read are received through the subscription.
      this.#latestRun(id, left.signal).then((task) => {
        see(task);
        // A caller with an already aborted signal still gets a task that is available immediately.
        if (signal.aborted) abort();
      }, lose);
    });
  }

  /** Notifies interested followers of a task's states between two saves. */
  passed(id: string, passed: PassedStates): void {
    if (passed.count === 0 || !this.#of(id).some((watcher) => 'onStep' in watcher)) return;
    for (const step of passed.describe()) {
      for (const watcher of this.#of(id)) watcher.onStep?.(step);
    }
  }

  /** Notifies the followers of a task, and followers of all tasks, of a change. */
  changed(task: Task, before: Task | null): void {
    for (const watcher of this.#of(task.id)) watcher.onTask(task);
    for (const hear of this.#ofAll) hear(task, before);
    for (const hear of this.#ofEach) hear(task);
  }

  /** Notifies the followers of a task of a change committed by another daemon. */
  changedElsewhere(task: Task): void {
    for (const watcher of this.#of(task.id)) watcher.onTask(task);
    for (const hear of this.#ofEach) hear(task);
  }

  /** Returns whether a task, or every task, has a follower. */
  follows(id: string): boolean {
    return this.#byTask.has(id) || this.#ofEach.size > 0;
  }

  /** Notifies every follower of a task's activity. */
  progressed(id: string, progress: Progress): void {
    for (const watcher of this.#of(id)) watcher.onProgress?.(progress);
  }

  /** Notifies every follower of the progress of a task's call. */
  reported(id: string, report: ToolProgress): void {
    for (const watcher of this.#of(id)) watcher.onToolProgress?.(report);
  }

  /** Starts a model turn that is published to every follower of the task. */
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

  /** Returns the running model turn of a task. */
  spoken(id: string): SpokenTurn | undefined {
    return this.#spoken.get(id);
  }

  /** Notifies every follower that a task can no longer be followed. */
  lost(id: string, error: Error): void {
    for (const watcher of this.#of(id)) watcher.onLost(error);
  }

  /** Notifies the followers of all tasks for which `matches` returns true. */
  lostAll(error: Error, matches: (id: string) => boolean): void {
    for (const id of [...this.#byTask.keys()]) if (matches(id)) this.lost(id, error);
  }

  #of(id: string): Watcher[] {
    const watchers = this.#byTask.get(id);
    return watchers === undefined ? [] : [...watchers];
  }
}
