import { boundedText } from './bounded-text.ts';
import type { ProviderName } from './provider-address.ts';

/** A model whose availability is checked. */
export interface ModelQuestion {
  provider: ProviderName;
  model: string;
  /** Base URL of the provider. */
  address: string;
  /** `null` for a provider without a key. */
  apiKey: string | null;
}

/** Result of a probe: model available or not, key refused, no model list, or provider unreachable. */
export type ModelProbe =
  | { kind: 'known' | 'unknown' | 'unlisted' }
  | { kind: 'refused'; status: number }
  | { kind: 'unreachable' };

/** Maximum length of a model list, in characters. */
const longestList = 4 * 1024 * 1024;

/** Checks whether a provider has a model, without running it; never rejects. */
export async function probeModel(
  { provider, model, address, apiKey }: ModelQuestion,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<ModelProbe> {
  const isListed = provider === 'ollama' || provider === 'openai-compatible';
  const name = isListed ? '' : `/${encodeURIComponent(model)}`;
  try {
    const response = await fetch(`${address}/models${name}`, {
      headers: headersOf(provider, apiKey),
      redirect: 'manual',
      signal,
    });
    const { status, ok } = response;
    const text = ok && isListed ? await boundedText(response, longestList) : '';
    if (!isListed) await response.body?.cancel();
    if (status === 401 || status === 403) return { kind: 'refused', status };
    if (isListed) return ok ? listed(text, model) : { kind: 'unlisted' };
    if (ok) return { kind: 'known' };
    return { kind: status === 404 ? 'unknown' : 'unlisted' };
  } catch {
    return { kind: 'unreachable' };
  }
}

function headersOf(provider: ProviderName, apiKey: string | null): Record<string, string> {
  if (apiKey === null) return {};
  switch (provider) {
    case 'anthropic':
      return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
    case 'google':
      return { 'x-goog-api-key': apiKey };
    default:
      return { authorization: `Bearer ${apiKey}` };
  }
}

/** An ollama model without a tag has the tag `latest`. */
function listed(text: string, model: string): ModelProbe {
  const { data } = JSON.parse(text) as { data?: { id?: unknown }[] | null };
  if (!Array.isArray(data)) return { kind: 'unlisted' };
  const has = data.some((one) => one?.id === model || one?.id === `${model}:latest`);
  return { kind: has ? 'known' : 'unknown' };
}
