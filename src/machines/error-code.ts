/** Returns an error's code, such as `ENOENT`; empty if there is none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Lists an error and its causes, outermost first; limits endless chains. */
export function causesOf(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 6; cause = cause.cause) {
    found.push(cause);
  }
  return found;
}

/** Returns the system error code of a failed connection, such as `ECONNREFUSED`; `null` for another failure. */
export function connectionCode(error: unknown): string | null {
  const codes = causesOf(error).map(codeOf);
  return codes.find((code) => /^(E[A-Z]{3,20}|UND_ERR_[A-Z_]{3,30})$/.test(code)) ?? null;
}

/** Returns true if a connection failed after it was established. */
export function isBrokenOff(error: unknown): boolean {
  return brokenOff.has(connectionCode(error) ?? '');
}

const brokenOff: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
