import * as z from 'zod';
import type { ServiceConfig } from '../config/config.ts';
import { directoryKeysUrl } from './directory-verifier.ts';
import { documentTimeout, fetchDocument } from './fetch-document.ts';
import { keysUrlOf } from './issuer-keys.ts';
import { tokenServiceHost } from './signed-url.ts';

type Provider = ServiceConfig['auth']['providers'][number];

/** What asking a provider showed. */
export interface ProviderProbe {
  /** The provider's `Date` header. */
  date: string | null;
}

const keySetSchema = z.object({ keys: z.array(z.object({ kty: z.string() })).min(1) });

/**
 * Asks a provider whether it could be asked about a token, without showing it one: an issuer must give
 * its keys, any other must answer. Resolves with `null` for one that asks nobody. Rejects with an
 * Error in words for the operator.
 */
export async function probeProvider(provider: Provider): Promise<ProviderProbe | null> {
  switch (provider.type) {
    case 'static_token':
      return null;
    case 'oidc': {
      const { issuer, jwks_url: url } = provider.settings;
      return probeKeys(url ?? (await keysUrlOf(issuer, fetchOrTell)));
    }
    case 'directory_ad':
      return probeKeys(directoryKeysUrl(provider.settings));
    case 'cloud_iap':
      return probeKeys(provider.settings.jwks_url);
    case 'cloud_sigv4': {
      const { region, sts_url: endpoint } = provider.settings;
      return probeService(endpoint ?? `https://${tokenServiceHost(region)}/`);
    }
    case 'http_verifier':
      return probeService(provider.settings.url);
  }
}

async function probeKeys(url: string): Promise<ProviderProbe> {
  const response = await fetchOrTell(url, { signal: AbortSignal.timeout(documentTimeout) });
  const keySet = keySetSchema.safeParse(await response.json().catch(() => null));
  if (!keySet.success) throw new Error(`${url} must answer a key set with a key`);
  return { date: response.headers.get('date') };
}

/** Whatever a service answers to a question without a token, it is there unless it says that it broke. */
async function probeService(url: string): Promise<ProviderProbe> {
  const signal = AbortSignal.timeout(documentTimeout);
  const response = await fetch(url, { method: 'OPTIONS', redirect: 'manual', signal }).catch(
    (error: unknown) => {
      throw unreachable(url, error);
    },
  );
  await response.body?.cancel();
  if (response.status >= 500) throw new Error(`${url} answered ${response.status}`);
  return { date: response.headers.get('date') };
}

async function fetchOrTell(url: string, options: RequestInit): Promise<Response> {
  try {
    return await fetchDocument(url, options);
  } catch (error) {
    // What fetchDocument says itself names the URL; what fetch says does not.
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
