import { boundedText } from './bounded-text.ts';
import type { ProviderName } from './provider-address.ts';

/** A model that a provider is asked about. */
export interface ModelQuestion {
  provider: ProviderName;
  model: string;
  /** The URL that the provider answers under. */
  address: string;
  /** `null` for one that asks for none. */
  apiKey: string | null;
}

/**
 * What a provider says of a model: it has it or not, the key is refused, it lists no models, or it cannot be reached.
 */
export type ModelProbe =
  | { kind: 'known' | 'unknown' | 'unlisted' }
  | { kind: 'refused'; status: number }
  | { kind: 'unreachable' };

/** The longest list of models that is read, in characters. */
const longestList = 4 * 1024 * 1024;

/** Asks a provider whether it has a model, without having it think; never rejects. */
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

/** A model of ollama that is named without a tag has the tag `latest`. */
function listed(text: string, model: string): ModelProbe {
  const { data } = JSON.parse(text) as { data?: { id?: unknown }[] | null };
  if (!Array.isArray(data)) return { kind: 'unlisted' };
  const has = data.some((one) => one?.id === model || one?.id === `${model}:latest`);
  return { kind: has ? 'known' : 'unknown' };
}
