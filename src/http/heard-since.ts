import type { Watcher, Watchers } from '../actors/tasks/tasks.ts';

/** What a task does between its beginning and the first who follows it, which is the same turn of the event loop or soon after. */
export class HeardSince {
  readonly #watchers: Pick<Watchers, 'watch'>;
  #id: string | null = null;
  #told: ((watcher: Watcher) => void)[] = [];
  #leave: () => void = () => undefined;

  constructor(watchers: Pick<Watchers, 'watch'>) {
    this.#watchers = watchers;
  }

  /** Listens to a task from now on. */
  listen(id: string): void {
    this.#id = id;
    const keep = (tell: (watcher: Watcher) => void): void => void this.#told.push(tell);
    this.#leave = this.#watchers.watch(id, {
      onTask: (task) => keep((watcher) => watcher.onTask(task)),
      onStep: (task) => keep((watcher) => watcher.onStep?.(task)),
      onProgress: (progress) => keep((watcher) => watcher.onProgress?.(progress)),
      onLost: (error) => keep((watcher) => watcher.onLost(error)),
    });
  }

  /** Tells the first who follows the task what they have missed, and listens no more. */
  tell(id: string, watcher: Watcher): void {
    if (this.#id !== id) return;
    this.#id = null;
    this.#leave();
    const told = this.#told;
    this.#told = [];
    for (const tell of told) tell(watcher);
  }

  /** Listens no more. */
  forget(): void {
    this.#id = null;
    this.#told = [];
    this.#leave();
  }
}
