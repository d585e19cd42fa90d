import { WorkerPool } from '../../worker-pool.ts';
import type { checkLargeOutput, LargeOutput } from './check-large-output.ts';
import { type CheckedOutput, checkOutput, type OutputLayers } from './check-output.ts';

/**
 * Lets a result or an error text of a tool through, rewritten where rules say so, or withholds it. Rejects with a
 * ModifyError, and with an AbortError once `signal` aborts.
 */
export type OutputCheck = (
  tool: string,
  text: string,
  secrets: readonly string[],
  signal: AbortSignal,
) => Promise<CheckedOutput>;

/** Characters up to which a text is checked at once: a few milliseconds, fewer than a worker takes to start. */
const small = 16 * 1024;

/** The workers of every agent in the process, and none that a tool could keep busy; all that comes waits its turn. */
const workers = new WorkerPool({ atOnce: 2, waiting: Number.POSITIVE_INFINITY });

/** Creates the check of what tools say; a text that takes long is checked in a worker, so that nobody else waits. */
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
      ...{ beside: import.meta, module: './check-large-output', exported: 'checkLargeOutput' },
      ...{ input, signal },
    });
    return checked as ReturnType<typeof checkLargeOutput>;
  };
}
