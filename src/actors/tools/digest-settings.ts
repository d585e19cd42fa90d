import { hash } from 'node:crypto';
import type { JsonObject } from '../../machines/json.ts';

/** Names of credentials, which are renewed while calls wait and do not affect where a call goes. */
const credentialName = /authorization|cookie|token|key|secret|passw|credential/i;

/** Digests variables or headers by name; for credentials and missing values only the name counts. */
export function digestSettings(given: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value === undefined || credentialName.test(name) ? null : hash('sha256', value, 'hex'),
    ]),
  );
}
