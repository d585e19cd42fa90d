import { isFinal, type Task } from '../../machines/domain/task.ts';
import type { ToolProgress } from '../ports/tool.ts';
import type { PassedStates } from './entered-states.ts';

/** An activity of a task that is displayed but not stored. */
export interface Progress {
  phase: 'tool_start' | 'tool_end' | 'token';
  tool?: string;
  text?: string;
}

/** A subscriber to the changes of one task or of all tasks. Its functions must not throw. */
export interface Subscriber {
  /** Called after a committed change of the task by any daemon. */
  onTask?(task: Task): void;
  /** Called after a change that this daemon committed, with the previous version; `null` for the first change. */
  onOwnChange?(task: Task, before: Task | null): void;
  /** Called for intermediate states of a change, before `onTask`. */
  onStep?(task: Task): void;
  onProgress?(progress: Progress): void;
  /** Called with the progress of the running call. */
  onToolProgress?(report: ToolProgress): void;
  /** Called when the task can no longer be followed from here. */
  onLost?(error: Error): void;
}

/** Subscribes to every task. */
export const allTasks = Symbol('all tasks');

/** The subscribers of each task. */
export class Watchers {
  readonly #latestRun: (id: string, signal: AbortSignal) => Promise<Task | undefined>;
  readonly #subscribers = new Map<string | typeof allTasks, Set<Subscriber>>();

  /**
   * `latestRun` returns the latest run of a committed task; `undefined` until part of it is on disk. The signal aborts
   * when nothing waits for it any more.
   */
  constructor(latestRun: (id: string, signal: AbortSignal) => Promise<Task | undefined>) {
    this.#latestRun = latestRun;
  }

  /**
   * Subscribes to a task or to all tasks; the returned function unsubscribes. A second call with the same subscriber
   * has no further effect. Does not reload the task.
   */
  subscribe(id: string | typeof allTasks, subscriber: Subscriber): () => void {
    const subscribers = this.#subscribers.get(id) ?? new Set();
    this.#subscribers.set(id, subscribers.add(subscriber));
    return () => {
      if (!subscribers.delete(subscriber) || subscribers.size > 0) return;
      if (this.#subscribers.get(id) === subscribers) this.#subscribers.delete(id);
    };
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
        if (task === undefined || left.signal.aborted || !isEnough(task)) return;
        leave();
        resolve(task);
      };
      const lose = (reason: unknown): void => {
        leave();
        reject(reason);
      };
      const abort = (): void => lose(signal.reason);
      const unwatch = this.subscribe(id, { onTask: see, onLost: lose });
      signal.addEventListener('abort', abort);
      // Changes during the read are received through the subscription.
      this.#latestRun(id, left.signal).then((task) => {
        see(task);
        // A caller with an already aborted signal still gets a task that is available immediately.
        if (signal.aborted) abort();
      }, lose);
    });
  }

  /** Publishes a task's states between two saves. */
  passed(id: string, passed: PassedStates): void {
    if (passed.count === 0 || !this.#of(id).some((subscriber) => 'onStep' in subscriber)) return;
    for (const step of passed.describe()) {
      for (const subscriber of this.#of(id)) subscriber.onStep?.(step);
    }
  }

  /** Publishes a change that this daemon committed. */
  changed(task: Task, before: Task | null): void {
    for (const subscriber of this.#of(task.id)) {
      subscriber.onTask?.(task);
      subscriber.onOwnChange?.(task, before);
    }
  }

  /** Publishes a change that another daemon committed. */
  changedElsewhere(task: Task): void {
    for (const subscriber of this.#of(task.id)) subscriber.onTask?.(task);
  }

  /** Returns whether a subscriber receives the changes of a task that other daemons commit. */
  follows(id: string): boolean {
    return this.#of(id).some((subscriber) => 'onTask' in subscriber);
  }

  /** Publishes a task's activity. */
  progressed(id: string, progress: Progress): void {
    for (const subscriber of this.#of(id)) subscriber.onProgress?.(progress);
  }

  /** Publishes the progress of a task's call. */
  reported(id: string, report: ToolProgress): void {
    for (const subscriber of this.#of(id)) subscriber.onToolProgress?.(report);
  }

  /** Publishes that a task can no longer be followed. */
  lost(id: string, error: Error): void {
    for (const subscriber of this.#of(id)) subscriber.onLost?.(error);
  }

  /** Publishes that the tasks for which `matches` returns true can no longer be followed. */
  lostAll(error: Error, matches: (id: string) => boolean): void {
    for (const id of [...this.#subscribers.keys()]) {
      if (id !== allTasks && matches(id)) this.lost(id, error);
    }
  }

  #of(id: string): Subscriber[] {
    const ofTask = this.#subscribers.get(id) ?? [];
    return [...ofTask, ...(this.#subscribers.get(allTasks) ?? [])];
  }
}
