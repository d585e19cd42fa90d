import { SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment, needsPassphrase } from '../../agent/agent-environment.ts';

/** What stands for a variable that is in the encrypted secrets alone. */
const hidden = 'hidden';

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

function withAnything(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const valueOf = (name: string | symbol): string | undefined =>
    typeof name === 'string' ? (env[name] ?? hidden) : undefined;
  return new Proxy(env, {
    get: (_, name) => valueOf(name),
    has: () => true,
    getOwnPropertyDescriptor: (_, name) => ({
      ...{ value: valueOf(name), configurable: true, enumerable: true, writable: true },
    }),
  });
}
