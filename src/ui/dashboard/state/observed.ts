import { createSubscriber } from 'svelte/reactivity';

/** The common interface of stores and actors. */
interface Source<Snapshot> {
  getSnapshot(): Snapshot;
  subscribe(listener: () => void): { unsubscribe(): void };
}

/** Wraps a store or actor for components: reading `current` makes the component re-render on changes. */
export class Observed<Snapshot> {
  readonly #source: Source<Snapshot>;
  readonly #subscribe: () => void;

  constructor(source: Source<Snapshot>) {
    this.#source = source;
    this.#subscribe = createSubscriber((changed) => {
      const subscription = source.subscribe(changed);
      return () => subscription.unsubscribe();
    });
  }

  get current(): Snapshot {
    this.#subscribe();
    return this.#source.getSnapshot();
  }
}
