/**
 * Returns true if the page may use the browser's cryptography API: over plain HTTP only if it was loaded from this
 * machine.
 */
export function canCheck(): boolean {
  return globalThis.crypto.subtle !== undefined;
}
