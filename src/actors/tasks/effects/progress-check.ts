import type { Credential, Policy } from '../../governance/governance.ts';
import type { ToolProgress } from '../../ports.ts';

/** What checking the progress of a call needs. */
export interface ProgressCheckPorts {
  policy: Pick<Policy, 'checkOutput'>;
  tool: string;
  credential: Credential | null;
  signal: AbortSignal;
}

/** The longest message that is passed on, in characters. */
const longestMessage = 500;

/**
 * Makes a function that passes on the progress of a call. A message passes the rules for output like every word of a tool,
 * and is left out when they block it or it cannot be checked. Reports that arrive during a check are dropped.
 */
export function checkedProgress(
  { policy, tool, credential, signal }: ProgressCheckPorts,
  pass: (report: ToolProgress) => void,
): (report: ToolProgress) => void {
  let isChecking = false;
  const check = async (text: string): Promise<string | null> => {
    const secrets = credential?.secretValues() ?? [];
    const checked = await policy.checkOutput(tool, text, secrets, signal);
    return checked.kind === 'withheld' ? null : checked.text;
  };
  return ({ message, ...numbers }) => {
    if (isChecking || signal.aborted) return;
    if (message === undefined) return pass(numbers);
    isChecking = true;
    void check(message.slice(0, longestMessage).toWellFormed())
      .catch(() => null)
      .then((shown) => {
        isChecking = false;
        if (!signal.aborted) pass(shown === null ? numbers : { ...numbers, message: shown });
      });
  };
}
