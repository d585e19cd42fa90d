import { refusedVariable } from './reserved-environment.ts';

/** Variables of this product that hold a secret, although its other ones are settings. */
const ownSecrets = new Set([
  'SERVICE_AUDIT_SIGNING_KEY',
  'SERVICE_PLATFORM_TOKEN',
  'SERVICE_TOKEN',
]);

const longestName = 128;

/**
 * Says in words why a secret may not have a name, or `null` when it may. The name is not repeated, as a value may have
 * been typed in its place.
 */
export function refusedSecretName(name: string): string | null {
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== '__proto__';
  if (!isName || name.length > longestName) {
    return `the name of a secret is one to ${longestName} letters, digits and underscores and does not begin with a digit, such as SHOP_KEY`;
  }
  if (ownSecrets.has(name) || refusedVariable(name) === null) return null;
  return 'this name steers how programs run, and a secret cannot have it; use another, such as SHOP_KEY';
}
