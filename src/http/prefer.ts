import type { RoutedContext } from './request-state.ts';

/** Reads `wait=N` of the `Prefer` header in milliseconds, at most `most` seconds; `fallback` seconds without one (RFC 7240). */
export function preferredWait(ctx: RoutedContext, fallback: number, most: number): number {
  const prefer = ctx.get('Prefer');
  const found = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(prefer)?.[1];
  return Math.min(Number(found ?? fallback), most) * 1_000;
}

/** Returns whether the `Prefer` header asks for an answer before the work has ended (RFC 7240). */
export function prefersAsync(ctx: RoutedContext): boolean {
  return /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i.test(ctx.get('Prefer'));
}
