import { cutToRunes } from '../../../machines/text.ts';
import { redactSecrets } from '../../governance/governance.ts';
import { ToolError, type ToolRun } from '../../ports/tool.ts';
import type { CallResult } from './call-result.ts';
import { resultExtras, resultText } from './result-text.ts';

/** Maximum bytes of a forwarded result, as for a script. */
const longestResult = 1024 * 1024;

/** Maximum characters of a forwarded error. */
const longestError = 4_000;

/**
 * Returns the result of a call as text without `secrets`, and reports further content. Throws a ToolError for an error
 * result or one that is too long.
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
      isUnknown: true,
    });
  }
  if (!result.isError) {
    run.onExtras?.(written(name, () => resultExtras(result, clean)));
    return text;
  }
  const why = cutToRunes(text.trim(), longestError);
  throw new ToolError(`${name} failed${why === '' ? '' : `: ${why}`}`, { kind: 'failed' });
}

/** A value nested too deeply to serialise is not a valid result. */
function written<Value>(name: string, write: () => Value): Value {
  try {
    return write();
  } catch (error) {
    throw new ToolError(`${name} returned what cannot be written as text`, {
      ...{ cause: error, isUnknown: true },
    });
  }
}
