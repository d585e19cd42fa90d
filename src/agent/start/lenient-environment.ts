import { assumedValue } from '../../actors/assumed-value.ts';
import { SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment, needsPassphrase } from './agent-environment.ts';

/** Optional settings whose values have a fixed format, so no placeholder is possible. */
const unassumed: ReadonlySet<string> = new Set([
  'SERVICE_ADMISSION_URL',
  'SERVICE_AUDIT_VERIFY_KEYS',
  'SERVICE_ORG_ID',
  'SERVICE_PLATFORM_TOKEN',
  'SERVICE_WORKSPACE_ID',
]);

/**
 * Returns the variables for reading an agent's files without a passphrase. A missing variable may be in the encrypted
 * secrets, so it is treated as set.
 */
export async function lenientEnvironment(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  if (needsPassphrase(directory, env)) return withAnything(env);
  try {
    return (await agentEnvironment(directory, { env, passphrase: null })).env;
  } catch (error) {
    if (error instanceof SecretsError) return env;
    throw error;
  }
}

/** Returns true if a value came from a variable that may be in the encrypted secrets. */
export function isAssumed(value: unknown): boolean {
  return JSON.stringify(value)?.includes(assumedValue) === true;
}

/**
 * Returns an agent's variables with a placeholder for each missing variable, for commands that use none of the values.
 */
export async function assumedEnvironment(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  return withAnything(await lenientEnvironment(directory, env));
}

function withAnything(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withAssumed(env, (name) => (unassumed.has(name) ? undefined : assumedValue));
}

/** Returns variables with an assumed value for each missing one that `assumed` returns a value for. */
export function withAssumed(
  env: NodeJS.ProcessEnv,
  assumed: (name: string) => string | undefined,
): NodeJS.ProcessEnv {
  const valueOf = (name: string | symbol): string | undefined =>
    typeof name === 'string' ? (env[name] ?? assumed(name)) : undefined;
  return new Proxy(env, {
    get: (_, name) => valueOf(name),
    has: (_, name) => valueOf(name) !== undefined,
    getOwnPropertyDescriptor: (_, name) =>
      valueOf(name) === undefined
        ? undefined
        : { value: valueOf(name), configurable: true, enumerable: true, writable: true },
  });
}
