import type { CredentialProvider } from '../../../machines/governance/ruling.ts';
import type { JsonObject } from '../../../machines/json.ts';

/** One entry of `credentials` in `service.yaml` (docs/contract/configuration.md). */
export interface CredentialEntry {
  tool: string;
  provider: CredentialProvider;
  /** What the provider is told; its keys depend on the provider. */
  spec: JsonObject;
}

/** A problem in the list of entries; never shows a value of the environment. */
export interface CredentialFinding {
  /** From the list itself, such as `[0, 'spec', 'role_arn']`. */
  path: (string | number)[];
  message: string;
  severity: 'error' | 'warning';
}

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a variable; `null` when it is not set or empty. */
export function readVariable(env: Environment, name: string): string | null {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === undefined || value === '' ? null : value;
}
