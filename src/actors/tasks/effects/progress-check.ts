import type { Credential, Policy } from '../../governance/governance.ts';
import type { ToolProgress } from '../../ports/tool.ts';

export interface ProgressCheckPorts {
  policy: Pick<Policy, 'checkOutput'>;
  tool: string;
  credential: Credential | null;
  signal: AbortSignal;
}

/** Maximum length of a forwarded message, in characters. */
const longestMessage = 500;

/**
 * Creates a function that forwards progress reports of a call. Messages pass the output rules like any text of a tool,
 * and are omitted if blocked or if the check fails. Reports that arrive during a check are dropped.
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
