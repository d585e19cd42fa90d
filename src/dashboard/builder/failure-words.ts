import { PageError, TooLongError } from '../../actors/providers/providers.ts';
import { causesOf, connectionCode, isBrokenOff } from '../../machines/error-code.ts';
import type { AskedModel } from './builder-model.ts';

/** The model reached its token limit in the middle of an answer. */
export class CutShortError extends Error {}

/**
 * Describes in a sentence why a model call failed. Repeats no text of the provider, which may quote the key or the
 * prompt.
 */
export function failureWords(error: unknown, { provider, model, address }: AskedModel): string {
  const who = `${provider} ${model}`;
  const place = `${provider} at ${URL.parse(address)?.origin ?? address}`;
  const all = causesOf(error);
  if (error instanceof CutShortError) {
    return `${who} ran out of tokens; request less at once`;
  }
  if (all.some((cause) => cause instanceof TooLongError)) {
    return `the answer of ${who} is too long; ask for less`;
  }
  if (all.some((cause) => cause instanceof PageError)) {
    return `${place} returned an HTML page; check base_url in the settings`;
  }
  const status = all.map(statusOf).find((found) => found !== null) ?? null;
  if (status !== null && (status < 200 || status >= 300)) return ofStatus(status, who, place);
  const code = connectionCode(error);
  if (status === null && code !== null && !isBrokenOff(error)) {
    return `${place} could not be reached (${code}); check base_url in the settings, and the network`;
  }
  return `the answer of ${who} broke off; try again`;
}

function ofStatus(status: number, who: string, place: string): string {
  if (status === 401 || status === 403) {
    return `${place} refused the key (${status}); give the right one in the settings`;
  }
  if (status === 404) return `${place} does not know the model (404); check it in the settings`;
  if (status === 413) return `the conversation is too long for ${who} (413); start a new one`;
  if (status === 429) return `${who} is rate limited (429); wait, or raise its limit`;
  if (status >= 500) return `${who} failed (${status}); try again`;
  if (status < 400) {
    return `${place} answered with a redirect (${status}), which is not followed; check base_url`;
  }
  return `${who} rejected the request (${status}); check the model and the key in the settings`;
}

function statusOf(error: Error): number | null {
  const { statusCode: status } = error as Error & { statusCode?: unknown };
  return typeof status === 'number' && status >= 100 && status < 600 ? status : null;
}
