const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Tells whether a request by this method only reads. */
export function isRead(method: string): boolean {
  return reading.has(method);
}
