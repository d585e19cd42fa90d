/** Says whether this page may use the browser's cryptography: over plain HTTP only where it came from this machine. */
export function canCheck(): boolean {
  return globalThis.crypto.subtle !== undefined;
}
