import { isTrustworthyUrl } from '../trustworthy-url.ts';

/** One input of a step: its label and the constraints on its value. */
export interface Field {
  name: string;
  label: string;
  /** A `list` may also be typed as one comma-separated text; a `map` has texts under its `keys`. */
  kind: 'text' | 'url' | 'list' | 'map' | 'secret';
  required: boolean;
  example: string;
  /** Pattern that a string, or each entry of a list, must match completely. */
  pattern?: string;
  /** The variable in which a secret is stored. */
  variable?: string;
  /** The keys of a map. */
  keys?: readonly string[];
}

export type FieldValue = string | readonly string[] | Readonly<Record<string, string>>;

/** Field values by name; a missing value is empty. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** Maximum length of a string in characters. */
const longestText = 2_000;

/** Maximum number of entries in a list. */
const longestList = 200;

/** Returns true if a string is a single line without control characters. */
export function isPlainText(text: string): boolean {
  return text.length <= longestText && /^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u.test(text);
}

/** Splits a string at its commas, trims the entries and drops empty ones. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Returns the problem of the field values; `null` if they are valid. */
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

/** An empty text means no value for every kind. */
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

/** Reads field values from an unvalidated request. Drops unknown names and values that no field can hold. */
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

/** Returns true if a value is an object and not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
