import * as z from 'zod';
import type { JsonObject } from '../../../machines/json.ts';
import { nearestName } from '../../nearest-name.ts';
import type { CredentialFinding } from './credential-entry.ts';

/** A parsed spec, or its problems with paths relative to the spec. */
export type SpecReading<T> = { ok: true; spec: T } | { ok: false; findings: CredentialFinding[] };

export const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
  error: 'this must be the bare name of an environment variable, without ${}',
});

/** An object with exactly the keys of `shape`; an unknown key is reported with the nearest known one. */
export function knownKeys<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return describeIssue(issue);
      return issue.keys.map((key) => `unknown key; ${adviceOn(key, known)}`).join('\n');
    },
  });
}

/** Parses a spec with the schema of its provider. */
export function readSpec<T>(schema: z.ZodType<T>, spec: JsonObject): SpecReading<T> {
  const result = schema.safeParse(spec, { error: describeIssue });
  if (result.success) return { ok: true, spec: result.data };
  return { ok: false, findings: result.error.issues.flatMap(findingsOf) };
}

/** One issue lists all unknown keys of a map; its message has one line for each key. */
function findingsOf(issue: z.core.$ZodIssue): CredentialFinding[] {
  const path = issue.path as (string | number)[];
  if (issue.code !== 'unrecognized_keys') {
    return [{ path, message: issue.message, severity: 'error' }];
  }
  const messages = issue.message.split('\n');
  return issue.keys.map((key, index) => ({
    path: [...path, key],
    message: messages[index] ?? 'unknown key; remove it',
    severity: 'error',
  }));
}

function adviceOn(key: string, known: readonly string[]): string {
  const near = nearestName(key, known);
  return near !== null ? `did you mean ${near}?` : 'remove it';
}

function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'this key is missing; add it';
  if (issue.code !== 'invalid_type') return undefined;
  return issue.expected === 'string'
    ? 'this must be text; put it in quotes'
    : 'this must be a map of keys and values';
}
