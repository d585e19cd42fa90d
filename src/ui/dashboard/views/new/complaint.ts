import { getContext, setContext, untrack } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';

/** The problem of the current step, and its field; `null` if it concerns no single field. */
export interface Complaint {
  field: string | null;
  text: string;
}

const key = Symbol('complaint');

/** Tracks the fields that can display a problem, and the field that the current problem concerns. */
export class Complaints {
  readonly #read: () => Complaint | null;
  readonly #fields = new SvelteSet<string>();

  constructor(read: () => Complaint | null) {
    this.#read = read;
    setContext(key, this);
  }

  /** Returns the problem of a field; `null` if there is none. */
  of(field: string): string | null {
    const complaint = this.#read();
    return complaint?.field === field ? complaint.text : null;
  }

  /** The problem that no field displays. */
  get rest(): string | null {
    const complaint = this.#read();
    if (complaint === null) return null;
    return complaint.field !== null && this.#fields.has(complaint.field) ? null : complaint.text;
  }

  /** Registers a field; returns a function that unregisters it. */
  enter(field: string): () => void {
    untrack(() => this.#fields.add(field));
    return () => this.#fields.delete(field);
  }
}

/** Returns the problems for the fields below this component. */
export function complaints(): Complaints {
  return getContext<Complaints>(key);
}
