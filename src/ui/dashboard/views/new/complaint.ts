import { getContext, setContext, untrack } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';

/** What is wrong with the step at hand, and the field that it is about; `null` for no single one. */
export interface Complaint {
  field: string | null;
  text: string;
}

const key = Symbol('complaint');

/** Knows which fields are there to show a complaint, and which one it is about. */
export class Complaints {
  readonly #read: () => Complaint | null;
  readonly #fields = new SvelteSet<string>();

  constructor(read: () => Complaint | null) {
    this.#read = read;
    setContext(key, this);
  }

  /** What is wrong with a field; `null` for nothing. */
  of(field: string): string | null {
    const complaint = this.#read();
    return complaint?.field === field ? complaint.text : null;
  }

  /** What no field shows. */
  get rest(): string | null {
    const complaint = this.#read();
    if (complaint === null) return null;
    return complaint.field !== null && this.#fields.has(complaint.field) ? null : complaint.text;
  }

  /** Notes that a field is there. Returns what ends this. */
  enter(field: string): () => void {
    untrack(() => this.#fields.add(field));
    return () => this.#fields.delete(field);
  }
}

/** Returns the complaints that a field below shows. */
export function complaints(): Complaints {
  return getContext<Complaints>(key);
}
