import { refusedVariable } from './reserved-environment.ts';

/** This product's own variables that hold a secret; its other variables are settings. */
const ownSecrets = new Set([
  'SERVICE_AUDIT_SIGNING_KEY',
  'SERVICE_METRICS_TOKEN',
  'SERVICE_PLATFORM_TOKEN',
  'SERVICE_TOKEN',
]);

const longestName = 128;

/**
 * Returns the reason why a name is not allowed for a secret; `null` if it is. The message does not repeat the name,
 * which may be a value typed by mistake.
 */
export function refusedSecretName(name: string): string | null {
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== '__proto__';
  if (!isName || name.length > longestName) {
    return `the name of a secret is one to ${longestName} letters, digits and underscores and does not begin with a digit, such as SHOP_KEY`;
  }
  if (ownSecrets.has(name) || refusedVariable(name) === null) return null;
  return 'this name affects how programs run, so a secret cannot have it; use another, such as SHOP_KEY';
}
