import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { argumentAt } from '../../../machines/governance/argument-at.ts';
import type { JsonValue } from '../../../machines/json.ts';
import { normalName } from '../../tool-name.ts';
import type { RuledCall } from './rule-lists.ts';

/** Maximum length of a value in a key; a longer one is replaced by its digest. */
const longestValue = 200;

/** Maximum length of the key of an effect, which PostgreSQL has to index. */
const longestKey = 400;

/** A placeholder of the key of an effect. */
export const keyPlaceholder = /\{(tool|args\.[^{}\s]+)\}/g;

/**
 * Returns the values of a limit that are counted apart, as one text; values of different types are different. `undefined`
 * is a value that could not be determined.
 */
export function limitKey(
  values: readonly (readonly [name: string, value: JsonValue | undefined])[],
): string {
  const sorted = values.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(
    Object.fromEntries(sorted.map(([name, value]) => [name, shortened(value ?? null)])),
  );
}

function shortened(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(shortened);
  const isLong = typeof value === 'string' && value.length > longestValue;
  return isLong ? ['sha256', digest(value)] : value;
}

/**
 * Returns the effect of a call. Values with the same `normalText` have the same effect.
 */
export function effectKey(template: string, { tool, args }: RuledCall): string {
  const key = template.replaceAll(keyPlaceholder, (_, name: string) =>
    name === 'tool' ? normalName(tool) : filled(argumentAt(args, name.split('.').slice(1))),
  );
  if (key.length <= longestKey) return key;
  return `${key.slice(0, longestValue).toWellFormed()}… sha256:${digest(key)}`;
}

function filled(value: JsonValue | undefined): string {
  const text = normalText(typeof value === 'string' ? value : (canonicalize(value) ?? '(none)'));
  return text.length > longestValue ? `sha256:${digest(text)}` : text;
}

/**
 * Returns the form that texts which look alike have in common: without spaces at the ends, repeated spaces, invisible
 * characters and other forms of a character. Case counts.
 */
export function normalText(text: string): string {
  const visible = withoutInvisible(text);
  if (visible.length > longestForms) return visible;
  return withoutInvisible(visible.normalize('NFKC'));
}

/** Maximum length of a string whose characters are compared in all their forms: a character may become eighteen. */
const longestForms = 1_000;

function withoutInvisible(text: string): string {
  return text
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
    .trim();
}

function digest(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Returns the paths of the arguments that the key of an effect reads. */
export function pathsOfKey(template: string): string[] {
  return [...template.matchAll(keyPlaceholder)].flatMap(([, name = '']) =>
    name === 'tool' ? [] : [name],
  );
}
