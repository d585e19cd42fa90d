const prefix = 'holdpoint-reason ';

/**
 * The reasons that a person has typed and not sent, in this tab. They survive a reload and the end of a session;
 * another person in the same tab does not see them.
 */
export class Drafts {
  readonly #store: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly #person: string;

  constructor(person: string, store: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>) {
    this.#person = person;
    this.#store = store;
  }

  /** Returns the unsent reason for a call; empty for none. */
  read(call: string): string {
    return this.#store.getItem(this.#key(call)) ?? '';
  }

  /** Keeps the reason for a call; an empty one is removed. */
  write(call: string, reason: string): void {
    try {
      if (reason === '') this.#store.removeItem(this.#key(call));
      else this.#store.setItem(this.#key(call), reason);
    } catch {
      // A full or forbidden store keeps nothing; the field still has the reason.
    }
  }

  #key(call: string): string {
    return `${prefix}${JSON.stringify([this.#person, call])}`;
  }
}
