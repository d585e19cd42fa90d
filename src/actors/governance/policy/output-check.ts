import { WorkerPool } from '../../worker-pool.ts';
import type { checkLargeOutput, LargeOutput } from './check-large-output.ts';
import { type CheckedOutput, checkOutput, type OutputLayers } from './check-output.ts';

/**
 * Checks a tool's result or error text and returns it, rewritten by the rules, or withholds it. Rejects with a
 * ModifyError, and with an AbortError once `signal` aborts.
 */
export type OutputCheck = (
  tool: string,
  text: string,
  secrets: readonly string[],
  signal: AbortSignal,
) => Promise<CheckedOutput>;

/** Maximum characters of a string that is checked inline: this takes a few milliseconds, less than starting a worker. */
const small = 16 * 1024;

/**
 * Shared by all agents of the process and used only for output checks, so no tool can exhaust them; the queue is
 * unlimited.
 */
const workers = new WorkerPool({ atOnce: 2, waiting: Number.POSITIVE_INFINITY });

/** Creates the check of tool output; a long text is checked in a worker, so that other work is not blocked. */
export function createOutputCheck(layers: OutputLayers): OutputCheck {
  const rules: LargeOutput['rules'] = {
    guardrails: layers.guardrails?.rules ?? null,
    modify: layers.modify?.rules ?? null,
  };
  const isOff = rules.guardrails === null && rules.modify === null;
  return async (tool, text, secrets, signal) => {
    if (text.length <= small || (isOff && secrets.length === 0)) {
      return checkOutput(tool, text, secrets, layers);
    }
    const input: LargeOutput = { tool, text, secrets, rules };
    const checked = await workers.run<Parameters<typeof checkLargeOutput>[0]>({
      from: import.meta,
      module: './check-large-output',
      exported: 'checkLargeOutput',
      input,
      signal,
    });
    return checked as ReturnType<typeof checkLargeOutput>;
  };
}
