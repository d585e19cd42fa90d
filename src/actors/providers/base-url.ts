import type { ProviderName } from './provider-address.ts';

/** A provider's base URL from the environment; `variable` is `null` and `url` empty if none is set. */
export type BaseUrl =
  | { ok: true; url: string; variable: string | null }
  | { ok: false; variable: string; message: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables from which the providers' own clients read the base URL; the first one that is set wins. */
const variables: Readonly<Partial<Record<string, readonly string[]>>> = {
  openai: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
  anthropic: ['ANTHROPIC_BASE_URL'],
  google: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_BASE_URL'],
  ollama: ['OLLAMA_HOST'],
} satisfies Partial<Record<ProviderName, readonly string[]>>;

/** Version path that a provider's clients append to a base URL without one. */
const versions: Readonly<Partial<Record<string, string>>> = { anthropic: '/v1', google: '/v1beta' };

/**
 * Reads the base URL of a provider from the variable of its own clients, with the syntax of `base_url`. Errors name the
 * variable and never its value, which may contain a password.
 */
export function baseUrlFrom(provider: string, env: Environment): BaseUrl {
  const known = Object.hasOwn(variables, provider) ? variables[provider] : undefined;
  for (const variable of known ?? []) {
    const text = (env[variable] ?? '').trim();
    if (text === '') continue;
    const url = provider === 'ollama' ? ollamaUrl(text) : webUrl(text);
    if (url !== null) return { ok: true, url: withVersion(provider, url), variable };
    const example = provider === 'ollama' ? '127.0.0.1:11434' : 'https://models.example.com/v1';
    const message = `the environment variable ${variable} is no address without credentials, ? and #; write one such as ${example}`;
    return { ok: false, variable, message };
  }
  return { ok: true, url: '', variable: null };
}

function webUrl(text: string): string | null {
  const url = /[?#\s]/.test(text) ? null : URL.parse(text);
  const isAddress =
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '';
  return isAddress ? text.replace(/\/+$/, '') : null;
}

function withVersion(provider: string, url: string): string {
  const version = versions[provider];
  return version === undefined || /\/v\d+(alpha|beta)?\d*$/.test(url) ? url : `${url}${version}`;
}

/** Ollama also accepts a bare host; a wildcard listening address means this machine. */
function ollamaUrl(text: string): string | null {
  const isUrl = /^https?:\/\//i.test(text);
  const named = webUrl(isUrl ? text : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`);
  if (named === null) return null;
  const url = new URL(named);
  if (['0.0.0.0', '[::]'].includes(url.hostname)) url.hostname = '127.0.0.1';
  if (!isUrl && url.port === '' && !/:80(\/|$)/.test(text)) url.port = '11434';
  return url.href.replace(/\/+$/, '');
}
