import { SecretsError } from '../actors/secrets/secrets.ts';
import { agentEnvironment, needsPassphrase } from '../agent/agent-environment.ts';

/** What stands for a variable that is in the encrypted secrets alone. */
const hidden = '(in-the-encrypted-secrets)';

/** Settings that an agent does without: what would stand for them has a form that nobody can make up. */
const unassumed: ReadonlySet<string> = new Set([
  'SERVICE_ADMISSION_URL',
  'SERVICE_AUDIT_VERIFY_KEYS',
  'SERVICE_ORG_ID',
  'SERVICE_PLATFORM_TOKEN',
  'SERVICE_WORKSPACE_ID',
]);

/**
 * Returns the variables that an agent's files are looked at with while nobody has given a passphrase: whatever is not
 * known may be in the encrypted secrets, so it is taken to be set.
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

/** Tells whether a value came from a variable that may be in the encrypted secrets. */
export function isAssumed(value: unknown): boolean {
  return JSON.stringify(value)?.includes(hidden) === true;
}

/**
 * Returns the variables of an agent, with something in the place of each that nobody has given: for commands to which no
 * value matters.
 */
export async function assumedEnvironment(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  return withAnything(await lenientEnvironment(directory, env));
}

function withAnything(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const valueOf = (name: string | symbol): string | undefined =>
    typeof name !== 'string' || unassumed.has(name) ? env[name as string] : (env[name] ?? hidden);
  return new Proxy(env, {
    get: (_, name) => valueOf(name),
    has: (_, name) => valueOf(name) !== undefined,
    getOwnPropertyDescriptor: (_, name) =>
      valueOf(name) === undefined
        ? undefined
        : { value: valueOf(name), configurable: true, enumerable: true, writable: true },
  });
}
