import { commandLine } from '../../actors/command-line.ts';
import type { ProviderName } from '../../actors/providers/providers.ts';
import { CliError } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

/** A model that can be asked without a question to the player, and where its credential was found. */
export interface Thinker {
  provider: ProviderName;
  model: string;
  /** The variable that holds the key; `null` for a server that asks for none. */
  keyVariable: string | null;
  /** Where the provider answers; empty for its usual address. */
  baseUrl: string;
  /** The variable that holds `baseUrl`; `null` for the usual address. */
  urlVariable: string | null;
}

/** A thinker, or why a script plays its part. */
export type Thinking = { thinker: Thinker } | { thinker: null; why: string };

/** Returns the line that says who thinks; it names the variable of a key, never the key. */
export function thinkingLine(thinking: Thinking): string {
  if (thinking.thinker === null) {
    return `Thinks with: a script, no language model (${thinking.why})`;
  }
  const { provider, model, keyVariable, baseUrl, urlVariable } = thinking.thinker;
  const key = keyVariable === null ? '' : ` (${keyVariable})`;
  const usual = keyVariable === null ? ' (on this machine)' : '';
  const place = urlVariable === null ? usual : ` at ${baseUrl} (${urlVariable})`;
  return plainLine(`Thinks with: ${provider} ${model}${key}${place}`);
}

/** Makes the failure of a thinker that cannot think, with the way to do without it. */
export function thinkerFailure(
  message: string,
  { keyVariable }: Pick<Thinker, 'keyVariable'>,
): CliError {
  const without = `play the script with: ${commandLine('try --scripted')}`;
  return new CliError(plainLine(message), {
    code: 'model_failed',
    hint: keyVariable === null ? without : `unset ${keyVariable}, or ${without}`,
  });
}
