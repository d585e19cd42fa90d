import { commandLine } from '../../actors/command-line.ts';
import type { ProviderName } from '../../actors/providers/providers.ts';
import { CliError } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

/** A model that is usable without a question to the user, and the source of its credential. */
export interface Thinker {
  provider: ProviderName;
  model: string;
  /** The variable that holds the key; `null` for a server without a key. */
  keyVariable: string | null;
  /** The provider's base URL; empty for the default. */
  baseUrl: string;
  /** The variable that holds `baseUrl`; `null` for the default URL. */
  urlVariable: string | null;
}

/** A model, or the reason why a script is used instead. */
export type Thinking = { thinker: Thinker } | { thinker: null; why: string };

/** Returns the line that names the model. It contains the name of the key's variable, never the key. */
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

/** Builds the error for an unusable model, with the option that runs the demo without one. */
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
