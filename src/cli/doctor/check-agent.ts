import { commandLine } from '../../actors/command-line.ts';
import { formatProblem } from '../../actors/config/config.ts';
import {
  logFilesOf,
  prunedAt,
  verdictSentence,
  verifyFiles,
} from '../../actors/records/records.ts';
import type { Findings } from '../../agent/start/agent-findings.ts';
import { messageOf } from '../../machines/message-of.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding, Subject } from './check.ts';

/** Reports the problems of the agent's files. */
export function checkConfig({ directory }: Subject, { problems, warnings }: Findings): Finding {
  const [first] = [...problems, ...warnings];
  if (first === undefined) return { status: 'pass', message: 'service.yaml and skills are valid' };
  const count = problems.length + warnings.length;
  const others = count > 1 ? ` (and ${count - 1} more)` : '';
  return {
    status: problems.length > 0 ? 'fail' : 'warn',
    message: plainLine(`${formatProblem(first)}${others}`),
    fix: commandLine(`validate --dir ${shellWord(directory)}`),
  };
}

/** Checks that the audit log is unaltered. */
export async function checkAudit(path: string, isChained: boolean): Promise<Finding> {
  if (!isChained) {
    return {
      status: 'warn',
      message: 'audit.chain is off, so a changed log cannot be detected',
      fix: 'set audit.chain: true in service.yaml',
    };
  }
  if (logFilesOf(path).length === 0)
    return { status: 'pass', message: 'there is no audit log yet' };
  const files = logFilesOf(path);
  const fix = commandLine(`audit verify ${files.map(shellWord).join(' ')}`);
  try {
    const pruned = await prunedAt(files);
    const verdict = await verifyFiles(files, pruned === null ? {} : { continuedFrom: pruned.head });
    const since = pruned === null ? '' : `; the ${pruned.count} before them were removed`;
    const message = plainLine(`${verdictSentence(verdict)}${since}`);
    if (verdict.ok && verdict.events === 0) {
      return {
        status: 'fail',
        message: `${path} has no events, and a log has some from its first start on`,
        fix,
      };
    }
    return verdict.ok ? { status: 'pass', message } : { status: 'fail', message, fix };
  } catch (error) {
    const message = messageOf(error);
    return { status: 'fail', message: message.replace(/\.$/, ''), fix };
  }
}
