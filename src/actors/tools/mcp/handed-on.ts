import { cutToRunes } from '../../../machines/text.ts';
import { redactSecrets } from '../../governance/governance.ts';
import { ToolError, type ToolRun } from '../../ports.ts';
import type { CallResult } from './call-result.ts';
import { resultExtras, resultText } from './result-text.ts';

/** The longest result that is handed on, in bytes, as that of a script. */
const longestResult = 1024 * 1024;

/** The longest error that is handed on, in characters. */
const longestError = 4_000;

/**
 * Returns the result of a call as text without `secrets`, and states what it has besides. Throws a ToolError for a result
 * that is an error, and for one that is too long.
 */
export function handedOn(
  name: string,
  result: CallResult,
  secrets: readonly string[],
  run: Pick<ToolRun, 'onExtras'>,
): string {
  const clean = (text: string) => redactSecrets(text, secrets);
  const text = clean(written(name, () => resultText(result)));
  if (Buffer.byteLength(text) > longestResult) {
    throw new ToolError(`${name} returned more than a tool may (1 MiB); ask it for less`, {
      kind: 'too much output',
    });
  }
  if (!result.isError) {
    run.onExtras?.(written(name, () => resultExtras(result, clean)));
    return text;
  }
  const why = cutToRunes(text.trim(), longestError);
  throw new ToolError(`${name} failed${why === '' ? '' : `: ${why}`}`, { kind: 'failed' });
}

/** What goes too deep to be written is no result. */
function written<Value>(name: string, write: () => Value): Value {
  try {
    return write();
  } catch (error) {
    throw new ToolError(`${name} returned what cannot be written as text`, { cause: error });
  }
}
