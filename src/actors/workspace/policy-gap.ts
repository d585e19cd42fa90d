import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ServedAgent } from '../../machines/agent-process/served-agent.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { commandLine } from '../command-line.ts';
import { isAlive, readServeFile } from '../process/process.ts';
import { servedAgent } from './sight-agent.ts';

/** An agent runs with other rules than its files have. */
export interface PolicyGap {
  /** When it was started; RFC 3339. */
  startedAt: string;
  /** When `service.yaml` was written last; RFC 3339. */
  changedAt: string;
}

/**
 * Compares the policy of a running agent with the digest of that in its files; `null` when they are the same, or the
 * agent does not run. A daemon that does not say which policy it has may have another.
 */
export function policyGap(
  directory: string,
  served: ServedAgent | null,
  policySha256: string,
): PolicyGap | null {
  if (served === null || served.policySha256 === policySha256) return null;
  const file = statSync(join(directory, 'service.yaml'), { throwIfNoEntry: false });
  const changedAt = (file?.mtime ?? new Date()).toISOString();
  return { startedAt: served.startedAt, changedAt };
}

/** The same for the agent that the `serve.json` of a folder names. */
export function policyGapIn(directory: string, policySha256: string): PolicyGap | null {
  const served = readServeFile(join(directory, '.service'));
  if (served === null || !isAlive(served.pid)) return null;
  return policyGap(directory, servedAgent(served), policySha256);
}

/** Says what is in force and since when, and which command changes that. */
export function gapWords(
  { startedAt, changedAt }: PolicyGap,
  directory: string,
): { message: string; fix: string } {
  const dir = `--dir ${shellWord(directory)}`;
  const restart = `${commandLine(`serve stop ${dir}`)} && ${commandLine(`serve start ${dir}`)}`;
  return {
    message: `the running agent has other rules than service.yaml: it was started at ${startedAt}, and the file was written at ${changedAt}`,
    fix: `restart the agent to apply it: ${restart}`,
  };
}
