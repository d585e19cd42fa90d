import type { Context } from 'koa';

const elsewhere: ReadonlySet<string> = new Set(['cross-site', 'same-site']);

/** True for what a browser says that a page of another origin has sent; other programs say nothing of that. */
export function isFromForeignSite({ req: { headers } }: Pick<Context, 'req'>): boolean {
  return elsewhere.has(String(headers['sec-fetch-site'] ?? ''));
}
