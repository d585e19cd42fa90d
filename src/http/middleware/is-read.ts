const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns true if the HTTP method only reads. */
export function isRead(method: string): boolean {
  return reading.has(method);
}
