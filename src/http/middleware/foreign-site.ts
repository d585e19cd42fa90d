import type { Context } from 'koa';

const elsewhere: ReadonlySet<string> = new Set(['cross-site', 'same-site']);

/**
 * Returns true if the browser's headers show that a page of another origin sent the request. Programs other than
 * browsers send no such headers.
 */
export function isFromForeignSite({ req: { headers } }: Pick<Context, 'req'>): boolean {
  return elsewhere.has(String(headers['sec-fetch-site'] ?? ''));
}
