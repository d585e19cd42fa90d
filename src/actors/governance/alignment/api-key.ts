import type { AlignmentSettings } from './alignment-settings.ts';
import { EmbedderError } from './embedder.ts';

/** The variables that hold a key when no other is named; a server of somebody's own gets none unasked. */
const defaultVariables: Partial<Record<AlignmentSettings['provider'], string>> = {
  openai: 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

/**
 * Returns the key an embedder is called with, `undefined` when it needs none. Throws an EmbedderError that
 * names the variable, never its value, when it is empty or unfit for a header.
 */
export function resolveApiKey(
  { provider, api_key_env }: AlignmentSettings,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const variable = api_key_env ?? defaultVariables[provider];
  if (variable === undefined || provider === 'local') return undefined;
  const key = (Object.hasOwn(env, variable) ? env[variable] : undefined)?.trim() ?? '';
  if (key === '') {
    const message = `the environment variable ${variable} is not set; it must hold the key of the embedder`;
    throw new EmbedderError('missing_key', message);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    const message = `the environment variable ${variable} holds characters that no key has; set it to the key alone`;
    throw new EmbedderError('missing_key', message);
  }
  return key;
}
