import * as z from 'zod';
import type { OidcSettings, ServiceConfig } from '../../config/config.ts';
import type { Outbound } from '../../ports/egress.ts';
import { documentTimeout, fetchDocument } from './fetch-document.ts';
import { keysUrlOf } from './keys-url.ts';
import { providerAddress } from './provider-address.ts';

type Provider = ServiceConfig['auth']['providers'][number];

/** The result of probing a provider. */
export interface ProviderProbe {
  /** The provider's `Date` header. */
  date: string | null;
}

const keySetSchema = z.object({ keys: z.array(z.object({ kty: z.string() })).min(1) });

/**
 * Checks that a provider is reachable, without sending it a token: an issuer must return its keys, any other provider
 * must respond. Uses `outbound`, or connects directly without it. Resolves with `null` for a provider that makes no
 * requests. Rejects with an Error worded for the operator.
 */
export async function probeProvider(
  provider: Provider,
  outbound?: Outbound,
): Promise<ProviderProbe | null> {
  const fetchIt = outbound?.fetch ?? globalThis.fetch;
  const address = providerAddress(provider);
  if (address === null) return null;
  switch (provider.type) {
    case 'oidc':
      return probeKeys(await keysUrl(provider.settings, fetchIt), fetchIt);
    case 'directory_ad':
    case 'cloud_iap':
      return probeKeys(address, fetchIt);
    default:
      return probeService(address, fetchIt);
  }
}

/** Checks like `probeProvider` that an issuer returns its keys. */
export async function probeIssuer(issuer: string): Promise<ProviderProbe> {
  const fetchIt = globalThis.fetch;
  return probeKeys(await keysUrl({ issuer }, fetchIt), fetchIt);
}

/** Returns the key set URL, which the issuer's metadata may name. */
async function keysUrl(
  { issuer, jwks_url: url }: Pick<OidcSettings, 'issuer' | 'jwks_url'>,
  fetchIt: Fetch,
): Promise<string> {
  return url ?? keysUrlOf(issuer, (from, options) => fetchOrTell(from, options, fetchIt));
}

type Fetch = typeof globalThis.fetch;

async function probeKeys(url: string, fetchIt: Fetch): Promise<ProviderProbe> {
  const options = { signal: AbortSignal.timeout(documentTimeout) };
  const response = await fetchOrTell(url, options, fetchIt);
  const keySet = keySetSchema.safeParse(await response.json().catch(() => null));
  if (!keySet.success) throw new Error(`${url} must return a key set with at least one key`);
  return { date: response.headers.get('date') };
}

/** Treats any status below 500 in reply to a request without a token as healthy. */
async function probeService(url: string, fetchIt: Fetch): Promise<ProviderProbe> {
  const signal = AbortSignal.timeout(documentTimeout);
  const response = await fetchIt(url, { method: 'OPTIONS', redirect: 'manual', signal }).catch(
    (error: unknown) => {
      throw unreachable(url, error);
    },
  );
  await response.body?.cancel();
  if (response.status >= 500) throw new Error(`${url} answered ${response.status}`);
  return { date: response.headers.get('date') };
}

async function fetchOrTell(url: string, options: RequestInit, fetchIt: Fetch): Promise<Response> {
  try {
    return await fetchDocument(url, options, fetchIt);
  } catch (error) {
    // Errors of fetchDocument already name the URL; errors of fetch do not.
    throw error instanceof Error && error.message.startsWith(url) ? error : unreachable(url, error);
  }
}

function unreachable(url: string, error: unknown): Error {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new Error(`${url} did not answer in ${documentTimeout / 1_000} s`);
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new Error(`${url} cannot be reached${code}`);
}
