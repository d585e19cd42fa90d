import { hash } from 'node:crypto';

/**
 * Large values that the columns of a task hold several times are stored once: the arguments of a call stand in its
 * deferral, as asked and as shown, in its text for approvers, in the first message, in the snapshot and in each notice.
 * A column has a reference in the place of each: `{"@shared": digest}`, or `{"@shared": [before, digest, after]}` for a string
 * with the JSON of such a value in it. A row without shared values is plain JSON.
 */

/** The keys of such values, and of a string with one in it. */
const keys = new Set(['args', 'asked', 'shown', 'context']);
const textKey = 'context';

const mark = '@shared';

/** Characters from which a value is shared, and from which a row is searched for them. */
const least = { value: 1_024, row: 8_192 };

/** Values that are searched in one string: a caller may send many of each, and a deferral has its arguments first. */
const mostSearched = 8;

/** A value of a task that its columns refer to, as a row of `task_values`. */
export interface SharedValue {
  digest: string;
  /** JSON. */
  value: string;
  /** 1 if a notice refers to it: such a value stays as long as its task, every other as long as the row refers to it. */
  is_asked: 0 | 1;
}

/** Writes the columns of one task. */
export class SharedValues {
  readonly #known = new Map<object, SharedValue>();
  readonly #values = new Map<string, SharedValue>();
  #isAsked = false;

  /** The shared values of the columns that were written, each once. */
  get values(): SharedValue[] {
    return [...this.#values.values()];
  }

  /** Returns the JSON of a column, with references in the place of its large values. */
  json(column: unknown): string {
    return JSON.stringify(column, (key, value: unknown) => this.#written(key, value));
  }

  /** Returns the JSON of a column of a notice. */
  askedJson(column: unknown): string {
    this.#isAsked = true;
    return this.json(column);
  }

  #written(key: string, value: unknown): unknown {
    if (!keys.has(key)) return value;
    if (typeof value === 'string') return this.#writtenText(value);
    if (typeof value !== 'object' || value === null) return value;
    // A caller's value that looks like a reference is never written as it is.
    const looksLikeReference = Object.hasOwn(value, mark);
    if (key === textKey && !looksLikeReference) return value;
    const known = this.#known.get(value) ?? valueOf(value);
    if (known.value.length < least.value && !looksLikeReference) return value;
    this.#known.set(value, known);
    return { [mark]: this.#shared(known).digest };
  }

  #writtenText(text: string): unknown {
    if (text.length < least.value) return text;
    for (const known of this.#values.values().take(mostSearched)) {
      const at = text.indexOf(known.value);
      if (at < 0) continue;
      const { digest, value } = this.#shared(known);
      return { [mark]: [text.slice(0, at), digest, text.slice(at + value.length)] };
    }
    return text;
  }

  #shared({ digest, value }: SharedValue): SharedValue {
    const known = this.#values.get(digest) ?? { digest, value, is_asked: 0 };
    if (this.#isAsked) known.is_asked = 1;
    this.#values.set(digest, known);
    return known;
  }
}

function valueOf(value: object): SharedValue {
  const json = JSON.stringify(value);
  return { digest: hash('sha256', json), value: json, is_asked: 0 };
}

/** Returns whether the JSON of a row is long enough for values that are worth sharing. */
export function isWorthSharing(columns: readonly string[]): boolean {
  return columns.reduce((sum, { length }) => sum + length, 0) >= least.row;
}

/** The column `shared` of a row as read: the values by digest as JSON; `null` for a row without. */
export type SharedColumn = string | null;

/** Returns a reader of the columns of one row. It throws SyntaxError for a column that cannot be read. */
export function columnReader(shared: SharedColumn): (column: string) => unknown {
  if (shared === null) return (column) => JSON.parse(column) as unknown;
  const values = new Map(Object.entries(JSON.parse(shared) as Record<string, string>));
  const read = new Map<string, unknown>();
  const jsonOf = (digest: string): string => {
    const value = values.get(digest);
    if (value === undefined) throw new SyntaxError(`a row lacks the value ${digest}`);
    return value;
  };
  const valueAt = (digest: string): unknown => {
    if (!read.has(digest)) read.set(digest, JSON.parse(jsonOf(digest)));
    return read.get(digest);
  };
  const readAt = (key: string, value: unknown): unknown => {
    if (!keys.has(key) || typeof value !== 'object' || value === null) return value;
    const reference = (value as { [mark]?: string | [string, string, string] })[mark];
    if (reference === undefined) return value;
    if (typeof reference === 'string') return valueAt(reference);
    const [before, digest, after] = reference;
    return before + jsonOf(digest) + after;
  };
  return (column) => JSON.parse(column, readAt) as unknown;
}
