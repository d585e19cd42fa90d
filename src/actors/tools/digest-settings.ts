import { hash } from 'node:crypto';
import type { JsonObject } from '../../machines/json.ts';

/** Names of what is signed in with, which is renewed while calls wait and shows nothing of where a call goes. */
const credentialName = /authorization|cookie|token|key|secret|passw|credential/i;

/** Digests variables or headers by their names: of what is signed in with and of what is missing the name alone. */
export function digestSettings(given: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value === undefined || credentialName.test(name) ? null : hash('sha256', value, 'hex'),
    ]),
  );
}
