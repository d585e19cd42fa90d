import type { CredentialProvider } from '../../../machines/governance/ruling.ts';
import type { JsonObject } from '../../../machines/json.ts';

/** One entry of `credentials` in `service.yaml` (docs/contract/configuration.md). */
export interface CredentialEntry {
  tool: string;
  provider: CredentialProvider;
  /** Provider-specific settings. */
  spec: JsonObject;
}

/** A problem in the list of entries; never contains an environment value. */
export interface CredentialFinding {
  /** Relative to the list, such as `[0, 'spec', 'role_arn']`. */
  path: (string | number)[];
  message: string;
  severity: 'error' | 'warning';
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a variable; `null` if it is unset or empty. */
export function readVariable(env: Environment, name: string): string | null {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === undefined || value === '' ? null : value;
}
