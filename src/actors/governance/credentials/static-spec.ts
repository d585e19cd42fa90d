import * as z from 'zod';
import type { JsonObject } from '../../../machines/json.ts';
import { refusedVariable } from '../../process/process.ts';
import { type CredentialFinding, type Environment, readVariable } from './credential-entry.ts';
import { knownKeys, readSpec, type SpecReading, variableName } from './read-spec.ts';
import { shortestSecret } from './redact-secrets.ts';

/** One variable of the tool's environment, and the variable of the daemon that holds its value. */
interface StaticVariable {
  name: string;
  from: string;
  /** Where its name stands in the spec. */
  path: string[];
  /** Where its source stands in the spec. */
  source: string[];
}

/** What a `static` credential is made of; at least one variable. */
export type StaticSpec = StaticVariable[];

const origin = { from_env: variableName.optional(), secret: z.unknown().optional() };

type Origin = { from_env?: string | undefined; secret?: unknown };

function checkOrigin({ value, issues }: z.core.ParsePayload<Origin>): void {
  if (issues.length > 0) return;
  const input = value;
  if (value.secret !== undefined) {
    const message = 'the store of secrets is not available in this version; use from_env';
    issues.push({ code: 'custom', path: ['secret'], message, input });
  } else if (value.from_env === undefined) {
    const message = 'a source is missing; add from_env: <VARIABLE>';
    issues.push({ code: 'custom', path: [], message, input });
  }
}

const longForm = knownKeys({
  env: z
    .record(z.string(), knownKeys(origin).check(checkOrigin))
    .refine((env) => Object.keys(env).length > 0, {
      error: 'this names no variable; add <NAME>: {from_env: <VARIABLE>}',
    }),
}).transform(({ env }) =>
  Object.entries(env).map(([name, { from_env: from = '' }]) => ({
    name,
    from,
    path: ['env', name],
    source: ['env', name, 'from_env'],
  })),
);

const shortForm = knownKeys({ name: z.string(), ...origin })
  .check(checkOrigin)
  .transform(({ name, from_env: from = '' }) => [
    { name, from, path: ['name'], source: ['from_env'] },
  ]);

/**
 * Reads the spec of a `static` credential: `{env: {<NAME>: {from_env: <VARIABLE>}}}`, or
 * `{name: <NAME>, from_env: <VARIABLE>}` for one variable (contract section 3).
 */
export function readStaticSpec(spec: JsonObject): SpecReading<StaticSpec> {
  return readSpec(Object.hasOwn(spec, 'name') ? shortForm : longForm, spec);
}

/** Checks the names of the variables and that each source is set; paths are from the spec on. */
export function checkStaticSpec(spec: StaticSpec, env: Environment): CredentialFinding[] {
  return spec.flatMap(({ name, from, path, source }): CredentialFinding[] => {
    const refusal = refusedVariable(name);
    const value = readVariable(env, from);
    const names: CredentialFinding[] = refusal
      ? [{ path, message: refusal, severity: 'error' }]
      : [];
    if (value === null) {
      const message = `the environment variable ${from} is not set; it must hold the value of ${name}`;
      return [...names, { path: source, message, severity: 'error' }];
    }
    if (value.length >= shortestSecret) return names;
    const message = `the value of ${from} is shorter than ${shortestSecret} characters and is not redacted from results; use a longer one`;
    return [...names, { path: source, message, severity: 'warning' }];
  });
}
