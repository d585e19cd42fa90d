/** Formats epoch milliseconds as RFC 3339 UTC with milliseconds. */
export function timestamp(at: number): string {
  return new Date(at).toISOString();
}
