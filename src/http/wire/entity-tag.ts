import { hash } from 'node:crypto';

/** Returns the strong entity tag of a body. */
export function entityTag(body: Uint8Array): string {
  return `"${hash('sha256', body, 'base64url')}"`;
}

/**
 * Returns true if the client already has this version. Koa's own check honours `Cache-Control: no-cache`, which `fetch`
 * adds to every request with `If-None-Match`.
 */
export function isKnownTag(header: string, etag: string): boolean {
  return header
    .split(',')
    .map((known) => known.trim().replace(/^W\//, ''))
    .some((known) => known === '*' || known === etag);
}
