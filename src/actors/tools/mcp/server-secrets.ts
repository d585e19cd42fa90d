import type { McpServerSettings } from './server-settings.ts';

/** The shortest word of a header that is taken for a secret by itself, in characters. */
const shortestWord = 6;

/**
 * Returns what the agent signs in at a server with, which nothing that the server says may show: the values of its
 * headers and variables, and the words of a header alone, as a server may quote `sesame1` of `Bearer sesame1`.
 */
export function serverSecrets({
  headers,
  env,
}: Pick<McpServerSettings, 'headers' | 'env'>): string[] {
  const values = Object.values(headers);
  const words = values.flatMap((value) => value.split(/[\s,;=]+/)).filter(isSecret);
  return [...values, ...words, ...Object.values(env)];
}

function isSecret(word: string): boolean {
  return word.length >= shortestWord && !/^(?:bearer|basic|digest|token|apikey)$/i.test(word);
}
