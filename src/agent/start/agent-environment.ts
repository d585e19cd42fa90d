import { dirname, resolve } from 'node:path';
import { readSection } from '../../actors/config/config.ts';
import {
  hasSecretFile,
  openSecretEnvironment,
  type SecretEnvironment,
} from '../../actors/secrets/secrets.ts';

/** The sources of an agent's variables. */
export interface EnvironmentSources {
  env: NodeJS.ProcessEnv;
  /** Decrypts the agent's secrets file; `null` if no passphrase was given. */
  passphrase: string | null;
}

/**
 * Merges the variables used to read an agent's folder: its secrets and the environment, in the order of
 * `secrets.providers`. Rejects with SecretsError.
 */
export function agentEnvironment(
  directory: string,
  { env, passphrase }: EnvironmentSources,
): Promise<SecretEnvironment> {
  const { providers } = readSection(directory, 'secrets', env);
  return openSecretEnvironment({ providers, path: secretPath(directory, env), passphrase, env });
}

/** Returns the path of an agent's encrypted secrets file, which may not exist. */
export function secretPath(directory: string, env: NodeJS.ProcessEnv): string {
  return resolve(directory, readSection(directory, 'secrets', env).path);
}

/** Returns true if the agent cannot be read without a passphrase. */
export function needsPassphrase(directory: string, env: NodeJS.ProcessEnv): boolean {
  const { providers } = readSection(directory, 'secrets', env);
  return providers.includes('encrypted-file') && hasSecretFile(secretPath(directory, env));
}

/** Returns the folder of an agent's `.env`, which may not exist. */
export function environmentFolder(directory: string, env: NodeJS.ProcessEnv): string {
  return dirname(secretPath(directory, env));
}
