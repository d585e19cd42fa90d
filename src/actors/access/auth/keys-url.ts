import * as z from 'zod';
import { documentTimeout } from './fetch-document.ts';

const metadataSchema = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** Discovers the key set URL of an issuer. Rejects when the metadata does not name a valid one. */
export async function keysUrlOf(
  issuer: string,
  fetchIt: (url: string, options: RequestInit) => Promise<Response>,
): Promise<string> {
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const answer = await fetchIt(url, { signal: AbortSignal.timeout(documentTimeout) });
  const metadata = metadataSchema.safeParse(await answer.json().catch(() => null));
  if (!metadata.success) throw new Error(`${url} must have issuer and jwks_uri`);
  const { issuer: named, jwks_uri: keysUrl } = metadata.data;
  if (named !== issuer) {
    throw new Error(`${url} names another issuer; copy it exactly, also a slash at its end`);
  }
  const { protocol, origin } = new URL(keysUrl);
  if (protocol !== 'https:' && origin !== new URL(issuer).origin) {
    throw new Error(`${url} has a jwks_uri that is not https; keys must not be fetched from there`);
  }
  return keysUrl;
}
