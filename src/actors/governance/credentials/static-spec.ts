import * as z from 'zod';
import type { JsonObject } from '../../../machines/json.ts';
import { commandLine } from '../../command-line.ts';
import { refusedVariable } from '../../process/process.ts';
import { type CredentialFinding, type Environment, readVariable } from './credential-entry.ts';
import { knownKeys, readSpec, type SpecReading, variableName } from './read-spec.ts';
import { shortestSecret } from './redact-secrets.ts';

/** One variable of the tool's environment, and the variable or secret that holds its value. */
interface StaticVariable {
  name: string;
  from: string;
  /** True if `from` is the name of a secret. */
  isSecret: boolean;
  /** Path of its name in the spec. */
  path: string[];
  /** Path of its source in the spec. */
  source: string[];
}

/** A parsed `static` spec; at least one variable. */
export type StaticSpec = StaticVariable[];

const secretName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
  error: 'this must be the name of a secret, never the secret itself',
});

const origin = { from_env: variableName.optional(), secret: secretName.optional() };

type Origin = { from_env?: string | undefined; secret?: string | undefined };

function checkOrigin({ value, issues }: z.core.ParsePayload<Origin>): void {
  if (issues.length > 0) return;
  const input = value;
  if (value.secret !== undefined && value.from_env !== undefined) {
    const message = 'there are two sources; keep secret or from_env';
    issues.push({ code: 'custom', path: ['secret'], message, input });
  } else if (value.secret === undefined && value.from_env === undefined) {
    const message = 'a source is missing; add secret: <NAME> or from_env: <VARIABLE>';
    issues.push({ code: 'custom', path: [], message, input });
  }
}

function sourceOf({ from_env: variable = '', secret }: Origin) {
  return { from: secret ?? variable, isSecret: secret !== undefined };
}

function keyOf({ secret }: Origin): string {
  return secret === undefined ? 'from_env' : 'secret';
}

const longForm = knownKeys({
  env: z
    .record(z.string(), knownKeys(origin).check(checkOrigin))
    .refine((env) => Object.keys(env).length > 0, {
      error: 'this names no variable; add <NAME>: {secret: <NAME>}',
    }),
}).transform(({ env }) =>
  Object.entries(env).map(([name, written]) => ({
    name,
    ...sourceOf(written),
    path: ['env', name],
    source: ['env', name, keyOf(written)],
  })),
);

const shortForm = knownKeys({ name: z.string(), ...origin })
  .check(checkOrigin)
  .transform(({ name, ...written }) => [
    { name, ...sourceOf(written), path: ['name'], source: [keyOf(written)] },
  ]);

/**
 * Parses the spec of a `static` credential: `{env: {<NAME>: {secret: <NAME>}}}`, with `from_env: <VARIABLE>` for an
 * environment variable, or `{name: <NAME>, secret: <NAME>}` for a single variable (docs/contract/configuration.md).
 */
export function readStaticSpec(spec: JsonObject): SpecReading<StaticSpec> {
  return readSpec(Object.hasOwn(spec, 'name') ? shortForm : longForm, spec);
}

/** Checks the variable names and that each source is set; paths are relative to the spec. */
export function checkStaticSpec(spec: StaticSpec, env: Environment): CredentialFinding[] {
  return spec.flatMap(({ name, from, isSecret, path, source }): CredentialFinding[] => {
    const refusal = refusedVariable(name);
    const value = readVariable(env, from);
    const names: CredentialFinding[] = refusal
      ? [{ path, message: refusal, severity: 'error' }]
      : [];
    if (value === null) {
      const message = `${missingSource({ from, isSecret })}; it must hold the value of ${name}`;
      return [...names, { path: source, message, severity: 'error' }];
    }
    if (value.length >= shortestSecret) return names;
    const message = `the value of ${from} is shorter than ${shortestSecret} characters and is not redacted from results; use a longer one`;
    return [...names, { path: source, message, severity: 'warning' }];
  });
}

/** Returns the message for a value whose source is not set; for a secret it includes the command that sets it. */
export function missingSource({
  from,
  isSecret,
}: Pick<StaticVariable, 'from' | 'isSecret'>): string {
  if (!isSecret) return `the environment variable ${from} is not set`;
  return `there is no secret ${from}: set it with ${commandLine(`secret set ${from}`)}`;
}
