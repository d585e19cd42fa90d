import { redactSecrets } from '../../governance/governance.ts';
import type { McpServerSettings } from './server-settings.ts';

/** Minimum length of a word in a header that is treated as a secret. */
const shortestWord = 6;

/** Names of variables and headers that hold secrets, regardless of their source. */
const secretName =
  /(?:^|[_-])(?:token|key|secret|pat|auth|credentials?|cookie)$|password|passwd|passphrase|apikey|authorization/i;

/**
 * Returns the agent's credentials for a server, which must be redacted from all its output: values of variables and
 * headers and in the URL that `${NAME}` filled in or whose name indicates a secret, a password in a URL, and the single
 * words of a header, since a server may quote `sesame1` of `Bearer sesame1`. Other values are addresses and settings, which
 * results may contain.
 */
export function serverSecrets({
  headers,
  env,
  url = '',
  auth,
  filled = [],
}: Pick<McpServerSettings, 'headers' | 'env' | 'url' | 'auth' | 'filled'>): string[] {
  const query = Object.fromEntries(URL.parse(url)?.searchParams ?? []);
  const sent = [...namedSecrets(headers), ...namedSecrets(query)];
  const words = sent.flatMap((value) => value.split(/[\s,;=]+/)).filter(isSecret);
  const passwords = Object.values(env).flatMap(passwordIn);
  const client = auth?.client_secret === undefined ? [] : [auth.client_secret];
  return [...sent, ...words, ...namedSecrets(env), ...passwords, ...client, ...filled];
}

/** Returns the URL or the program of a server without its secrets. */
export function shownPlace(server: McpServerSettings): string {
  return redactSecrets(server.url ?? server.command ?? '', serverSecrets(server));
}

function namedSecrets(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
}

/** Returns whether the name of a variable, header or option indicates a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

function isSecret(word: string): boolean {
  return word.length >= shortestWord && !/^(?:bearer|basic|digest|token|apikey)$/i.test(word);
}

function passwordIn(value: string): string[] {
  const written = URL.parse(value)?.password ?? '';
  if (written === '') return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}
