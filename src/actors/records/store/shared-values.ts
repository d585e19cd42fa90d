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
  /** Values that are too small to be shared, with all that they hold. */
  readonly #small = new WeakSet<object>();
  #isAsked = false;

  /** The shared values of the columns that were written, each once. */
  get values(): SharedValue[] {
    return [...this.#values.values()];
  }

  /** Returns the JSON of a column, with references in the place of its large values. */
  json(column: unknown): string {
    const written = (key: string, value: unknown, holder: object) =>
      this.#written(key, value, holder);
    return JSON.stringify(column, function replace(this: object, key, value: unknown) {
      return written(key, value, this);
    });
  }

  /** Returns the JSON of a column of a notice. */
  askedJson(column: unknown): string {
    this.#isAsked = true;
    return this.json(column);
  }

  #written(key: string, value: unknown, holder: object): unknown {
    if (this.#small.has(holder)) {
      if (typeof value === 'object' && value !== null) this.#small.add(value);
      return value;
    }
    if (!keys.has(key)) return value;
    if (typeof value === 'string') return this.#writtenText(value);
    if (typeof value !== 'object' || value === null) return value;
    // A caller's value that looks like a reference is never written as it is.
    const looksLikeReference = Object.hasOwn(value, mark);
    if (key === textKey && !looksLikeReference) return value;
    const known = this.#known.get(value);
    if (known !== undefined) return { [mark]: this.#shared(known).digest };
    const json = JSON.stringify(value);
    if (json.length < least.value && !looksLikeReference) {
      if (!hasReference(json)) this.#small.add(value);
      return value;
    }
    const found: SharedValue = { digest: hash('sha256', json), value: json, is_asked: 0 };
    this.#known.set(value, found);
    return { [mark]: this.#shared(found).digest };
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

/** Returns whether JSON may have a reference, or a value that looks like one. */
function hasReference(json: string): boolean {
  return json.includes(`"${mark}"`);
}

/**
 * Returns whether columns are written with shared values: they are long enough, or a caller's value in them looks like a
 * reference, so that plain columns have none.
 */
export function isWorthSharing(columns: readonly string[]): boolean {
  const length = columns.reduce((sum, column) => sum + column.length, 0);
  return length >= least.row || columns.some(hasReference);
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
  const resolved = (reference: string | [string, string, string]): unknown => {
    if (typeof reference !== 'string') {
      const [before, digest, after] = reference;
      return before + jsonOf(digest) + after;
    }
    if (!read.has(reference)) read.set(reference, JSON.parse(jsonOf(reference)));
    return read.get(reference);
  };
  return (column) => {
    const value = JSON.parse(column) as unknown;
    if (hasReference(column)) resolveAll(value, resolved);
    return value;
  };
}

/** Replaces the references in a value, at any depth. */
function resolveAll(
  root: unknown,
  resolved: (reference: string | [string, string, string]) => unknown,
): void {
  const open = [root];
  while (open.length > 0) {
    const holder = open.pop();
    if (typeof holder !== 'object' || holder === null) continue;
    for (const [key, value] of Object.entries(holder) as [string, unknown][]) {
      const reference = keys.has(key) ? referenceOf(value) : undefined;
      if (reference === undefined) open.push(value);
      else (holder as Record<string, unknown>)[key] = resolved(reference);
    }
  }
}

function referenceOf(value: unknown): string | [string, string, string] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as { [mark]?: string | [string, string, string] })[mark];
}
