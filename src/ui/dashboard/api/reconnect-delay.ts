/** Returns the milliseconds before the next attempt after consecutive failures: 0.5 s to 8 s, doubled with each. */
export function reconnectDelay({ failures }: { failures: number }): number {
  return Math.min(8_000, 250 * 2 ** failures);
}
