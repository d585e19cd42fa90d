import { isTrustworthyUrl } from '../trustworthy-url.ts';

/** One thing that a step asks for: what it is called, and what its value has to be. */
export interface Field {
  name: string;
  label: string;
  /** A `list` is also typed as one text with commas, a `map` has texts under its `keys`. */
  kind: 'text' | 'url' | 'list' | 'map' | 'secret';
  required: boolean;
  example: string;
  /** What a text, or each entry of a list, matches as a whole. */
  pattern?: string;
  /** The variable that a secret is kept under. */
  variable?: string;
  /** The keys of a map. */
  keys?: readonly string[];
}

export type FieldValue = string | readonly string[] | Readonly<Record<string, string>>;

/** The values of fields by their names; one that is not there is empty. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** Characters of a text that stands in a configuration. */
const longestText = 2_000;

/** Entries of a list. */
const longestList = 200;

/** Tells whether a text is one line that any file can hold. */
export function isPlainText(text: string): boolean {
  return text.length <= longestText && /^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u.test(text);
}

/** Splits a text at its commas; blanks around an entry and empty entries are left out. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Says in words what is wrong with the values of fields, or `null` when nothing is. */
export function wrongFields(fields: readonly Field[], values: FieldValues): string | null {
  for (const field of fields) {
    const wrong = wrongField(field, values[field.name] ?? '');
    if (wrong !== null) return wrong;
  }
  return null;
}

function wrongField(field: Field, value: FieldValue): string | null {
  if (!isOfKind(field.kind, value)) return `${field.label} is not right; ${such(field)}`;
  const texts = typeof value === 'string' ? [value] : Object.values(value);
  const said = texts.filter((text) => text.trim() !== '');
  if (said.length === 0) {
    return field.required ? `${field.label} is missing; ${such(field)}` : null;
  }
  if (texts.length > longestList) return `${field.label} has more than ${longestList} entries`;
  const isRight = said.every((text) => isRightText(field, text));
  return isRight ? null : `${field.label} is not right; ${such(field)}`;
}

function such({ example }: Field): string {
  return `write one such as ${example}`;
}

/** An empty text stands for nothing, whatever the kind. */
function isOfKind(kind: Field['kind'], value: FieldValue): boolean {
  if (value === '') return true;
  if (kind === 'map') return isRecord(value);
  return kind === 'list' ? Array.isArray(value) : typeof value === 'string';
}

function isRightText({ kind, pattern }: Field, text: string): boolean {
  if (!isPlainText(text)) return false;
  if (kind === 'url' && !isTrustworthyUrl(text)) return false;
  return pattern === undefined || new RegExp(`^(?:${pattern})$`, 'u').test(text.trim());
}

/**
 * Reads the values of fields from what somebody sent. What has another name, or is nothing that a field can hold, is
 * left out.
 */
export function readFields(fields: readonly Field[], sent: unknown): FieldValues {
  if (!isRecord(sent)) return {};
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = Object.hasOwn(sent, field.name) ? readField(field, sent[field.name]) : null;
      return value === null ? [] : [[field.name, value] as const];
    }),
  );
}

function readField({ kind, keys = [] }: Field, sent: unknown): FieldValue | null {
  if (kind === 'map') {
    const texts = keys.flatMap((key) => {
      const text = isRecord(sent) && Object.hasOwn(sent, key) ? sent[key] : null;
      return typeof text === 'string' && text !== '' ? [[key, text] as const] : [];
    });
    return texts.length === 0 ? null : Object.fromEntries(texts);
  }
  if (kind !== 'list') return typeof sent === 'string' ? sent : null;
  if (typeof sent === 'string') return splitList(sent);
  return Array.isArray(sent) && sent.every((entry) => typeof entry === 'string') ? sent : null;
}

/** Tells whether something is an object with keys of its own, and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
