import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ServedAgent } from '../../machines/agent-process/served-agent.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { commandLine } from '../command-line.ts';
import { mayServe, readServeFile } from '../process/process.ts';
import { servedAgent } from './sight-agent.ts';

/** A running agent whose rules differ from those in its files. */
export interface PolicyGap {
  /** Start time of the agent; RFC 3339. */
  startedAt: string;
  /** Last change of `service.yaml`; RFC 3339. */
  changedAt: string;
  /**
   * The remedy: correct the files, restart the agent, reload the policy, or none, because the agent is about to apply
   * them.
   */
  remedy: 'correct' | 'restart' | 'reload' | 'wait';
  /** The problem because of which the files are not in force; `null` for none. */
  problem: string | null;
}

/**
 * Compares the policy of a running agent with the policy digest of its files, `null` for invalid ones. Returns `null` if
 * they are equal, or the agent is not running. A daemon that does not report its policy may have a different one.
 */
export function policyGap(
  directory: string,
  served: ServedAgent | null,
  policySha256: string | null,
): PolicyGap | null {
  const problem = served?.policyProblem ?? null;
  const isEqual = policySha256 === null || served?.policySha256 === policySha256;
  if (served === null || (isEqual && problem === null)) return null;
  const file = statSync(join(directory, 'service.yaml'), { throwIfNoEntry: false });
  const changedAt = (file?.mtime ?? new Date()).toISOString();
  return { startedAt: served.startedAt, changedAt, remedy: remedyOf(served), problem };
}

function remedyOf({
  policyProblem,
  policyReload,
  policyNeedsRestart,
}: ServedAgent): PolicyGap['remedy'] {
  if (policyProblem !== undefined) return 'correct';
  if (policyReload === undefined || policyNeedsRestart === true) return 'restart';
  return policyReload === 'manual' ? 'reload' : 'wait';
}

/** Like `policyGap`, for the agent in a folder's `serve.json`. */
export function policyGapIn(directory: string, policySha256: string | null): PolicyGap | null {
  const stateFolder = join(directory, '.service');
  const served = readServeFile(stateFolder);
  if (served === null || !mayServe(served.pid, stateFolder)) return null;
  return policyGap(directory, servedAgent(served), policySha256);
}

/** Describes how the running agent differs from its files, and the remedy. */
export function gapWords(
  { changedAt, remedy, problem }: PolicyGap,
  directory: string,
): { message: string; fix: string } {
  const dir = `--dir ${shellWord(directory)}`;
  const restart = `${commandLine(`serve stop ${dir}`)} && ${commandLine(`serve start ${dir}`)}`;
  const fixes = {
    correct: `correct the file; until then the earlier rules are in force: ${problem}`,
    restart: `restart the agent to apply it: ${restart}`,
    reload: `apply it: ${commandLine(`policy reload ${dir}`)}`,
    wait: 'the agent applies it within seconds, or reports why not',
  };
  return {
    message: `the running agent has other rules than service.yaml, which was written at ${changedAt}`,
    fix: fixes[remedy],
  };
}

/** JSON fields for a gap, on the wire and in the output of commands. */
export function gapJson({ startedAt, changedAt, remedy, problem }: PolicyGap): PolicyGapJson {
  return {
    started_at: startedAt,
    changed_at: changedAt,
    remedy,
    ...(problem === null ? {} : { problem }),
  };
}

export interface PolicyGapJson {
  started_at: string;
  changed_at: string;
  remedy: PolicyGap['remedy'];
  problem?: string;
}
