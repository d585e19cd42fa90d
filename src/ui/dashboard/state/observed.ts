import { createSubscriber } from 'svelte/reactivity';

/** What a store and an actor have in common. */
interface Source<Snapshot> {
  getSnapshot(): Snapshot;
  subscribe(listener: () => void): { unsubscribe(): void };
}

/** A store or actor that a component reads like a variable: what reads `current` is drawn again when it changes. */
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
