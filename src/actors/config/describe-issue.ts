import type * as z from 'zod';
import { foreignValueOf } from '../../machines/moving/foreign-keys.ts';

const kinds: Record<string, string> = {
  string: 'text; put it in quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list, such as [a, b]',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
};

/** Words a schema issue without repeating the value. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return missing;
  switch (issue.code) {
    case 'invalid_type':
      return `this must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return oneOf(issue.values, issue.input);
    case 'invalid_union':
      return describeUnion(issue);
    case 'too_small':
      return `this must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}`;
    case 'too_big':
      return `this must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`;
    default:
      return undefined;
  }
}

const missing = 'this key is missing; add it';

function describeUnion({ input, discriminator, options }: z.core.$ZodRawIssue): string | undefined {
  if (typeof discriminator !== 'string' || !Array.isArray(options)) return undefined;
  const isWritten =
    typeof input === 'object' && input !== null && Object.hasOwn(input, discriminator);
  const written = isWritten ? (input as Record<string, unknown>)[discriminator] : undefined;
  return isWritten ? oneOf(options, written) : missing;
}

function oneOf(values: readonly unknown[], written: unknown): string {
  const choices = values.join(', ');
  const name = typeof written === 'string' ? written : '';
  const here = foreignValueOf(name);
  const hint = here !== null && values.includes(here) ? `; ${name} is ${here} here` : '';
  return `${values.length === 1 ? `this must be ${choices}` : `this must be one of ${choices}`}${hint}`;
}
