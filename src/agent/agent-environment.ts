import { dirname, resolve } from 'node:path';
import { readSection } from '../actors/config/config.ts';
import {
  hasSecretFile,
  openSecretEnvironment,
  type SecretEnvironment,
} from '../actors/secrets/secrets.ts';

/** Where the variables of an agent come from. */
export interface EnvironmentSources {
  env: NodeJS.ProcessEnv;
  /** Opens the agent's encrypted secrets; `null` when nobody gave it. */
  passphrase: string | null;
}

/**
 * Puts together the variables that an agent's folder is read with: its secrets and the environment, in the order that
 * `secrets.providers` names. Rejects with a SecretsError.
 */
export function agentEnvironment(
  directory: string,
  { env, passphrase }: EnvironmentSources,
): Promise<SecretEnvironment> {
  const { providers } = readSection(directory, 'secrets', env);
  return openSecretEnvironment({ providers, path: secretPath(directory, env), passphrase, env });
}

/** Names the encrypted file of an agent, whether or not it is there. */
export function secretPath(directory: string, env: NodeJS.ProcessEnv): string {
  return resolve(directory, readSection(directory, 'secrets', env).path);
}

/** Tells whether an agent cannot be read without a passphrase. */
export function needsPassphrase(directory: string, env: NodeJS.ProcessEnv): boolean {
  const { providers } = readSection(directory, 'secrets', env);
  return providers.includes('encrypted-file') && hasSecretFile(secretPath(directory, env));
}

/** Names the folder that holds the `.env` of an agent, whether or not it is there. */
export function environmentFolder(directory: string, env: NodeJS.ProcessEnv): string {
  return dirname(secretPath(directory, env));
}
