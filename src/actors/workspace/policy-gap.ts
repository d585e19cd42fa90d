import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ServedAgent } from '../../machines/agent-process/served-agent.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { commandLine } from '../command-line.ts';
import { isAlive, readServeFile } from '../process/process.ts';
import { servedAgent } from './sight-agent.ts';

/** A running agent whose rules differ from those in its files. */
export interface PolicyGap {
  /** Start time of the agent; RFC 3339. */
  startedAt: string;
  /** Last change of `service.yaml`; RFC 3339. */
  changedAt: string;
}

/**
 * Compares the policy of a running agent with the policy digest of its files; `null` if they are equal, or the agent is
 * not running. A daemon that does not report its policy may have a different one.
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

/** Like `policyGap`, for the agent in a folder's `serve.json`. */
export function policyGapIn(directory: string, policySha256: string): PolicyGap | null {
  const served = readServeFile(join(directory, '.service'));
  if (served === null || !isAlive(served.pid)) return null;
  return policyGap(directory, servedAgent(served), policySha256);
}

/** Describes the policy in force, its start time, and the command that updates it. */
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
