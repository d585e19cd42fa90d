import type { McpServerSettings } from './server-settings.ts';

/** The shortest word of a header that is taken for a secret by itself, in characters. */
const shortestWord = 6;

/** Names of variables and headers that hold a secret, whatever wrote it there. */
const secretName =
  /(?:^|[_-])(?:token|key|secret|pat|auth|credentials?|cookie)$|password|passwd|passphrase|apikey|authorization/i;

/**
 * Returns what the agent signs in at a server with, which nothing that the server says may show: the values of variables
 * and headers that `${NAME}` filled in or whose name is that of a secret, the password in an address, and the words of a
 * header alone, as a server may quote `sesame1` of `Bearer sesame1`. Other values are addresses and settings, which results may name.
 */
export function serverSecrets({
  headers,
  env,
  filled = [],
}: Pick<McpServerSettings, 'headers' | 'env' | 'filled'>): string[] {
  const sent = namedSecrets(headers);
  const words = sent.flatMap((value) => value.split(/[\s,;=]+/)).filter(isSecret);
  const passwords = Object.values(env).flatMap(passwordIn);
  return [...sent, ...words, ...namedSecrets(env), ...passwords, ...filled];
}

function namedSecrets(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
}

/** Returns whether the name of a variable, a header or an option is that of a secret. */
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
