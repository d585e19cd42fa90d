import type { Subscriber, Watchers } from '../actors/tasks/tasks.ts';

/**
 * Buffers a task's changes between its start and its first follower, which usually attaches in the same turn of the
 * event loop or soon after.
 */
export class HeardSince {
  readonly #watchers: Pick<Watchers, 'subscribe'>;
  #id: string | null = null;
  #told: ((watcher: Subscriber) => void)[] = [];
  #leave: () => void = () => undefined;

  constructor(watchers: Pick<Watchers, 'subscribe'>) {
    this.#watchers = watchers;
  }

  /** Starts buffering a task's changes. */
  listen(id: string): void {
    this.#id = id;
    const keep = (tell: (watcher: Subscriber) => void): void => void this.#told.push(tell);
    this.#leave = this.#watchers.subscribe(id, {
      onTask: (task) => keep((watcher) => watcher.onTask?.(task)),
      onStep: (task) => keep((watcher) => watcher.onStep?.(task)),
      onProgress: (progress) => keep((watcher) => watcher.onProgress?.(progress)),
      onLost: (error) => keep((watcher) => watcher.onLost?.(error)),
    });
  }

  /** Passes the buffered changes to the first follower and stops buffering. */
  tell(id: string, watcher: Subscriber): void {
    if (this.#id !== id) return;
    this.#id = null;
    this.#leave();
    const told = this.#told;
    this.#told = [];
    for (const tell of told) tell(watcher);
  }

  /** Discards the buffer and stops listening. */
  forget(): void {
    this.#id = null;
    this.#told = [];
    this.#leave();
  }
}
