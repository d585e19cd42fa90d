import { existsSync } from 'node:fs';
import { verdictSentence, verifyFiles } from '../../actors/audit/audit.ts';
import { formatProblem } from '../../actors/config/config.ts';
import { plainLine } from '../plain-text.ts';
import { shellWord } from '../shell-word.ts';
import type { Findings } from '../validate.ts';
import type { Finding, Subject } from './check.ts';

/** Judges what was found in the agent's files. */
export function checkConfig({ directory }: Subject, { problems, warnings }: Findings): Finding {
  const [first] = [...problems, ...warnings];
  if (first === undefined) return { status: 'pass', message: 'service.yaml and skills are valid' };
  const count = problems.length + warnings.length;
  const others = count > 1 ? ` (and ${count - 1} more)` : '';
  return {
    status: problems.length > 0 ? 'fail' : 'warn',
    message: plainLine(`${formatProblem(first)}${others}`),
    fix: `holdpoint validate --dir ${shellWord(directory)}`,
  };
}

/** Checks that the audit log is as it was written. */
export async function checkAudit(path: string, isChained: boolean): Promise<Finding> {
  if (!isChained) {
    return {
      status: 'warn',
      message: 'audit.chain is off, so a changed log cannot be told from a true one',
      fix: 'set audit.chain: true in service.yaml',
    };
  }
  if (!existsSync(path)) return { status: 'pass', message: 'there is no audit log yet' };
  const fix = `holdpoint audit verify ${shellWord(path)}`;
  try {
    const verdict = await verifyFiles([path]);
    const message = plainLine(verdictSentence(verdict));
    return verdict.ok ? { status: 'pass', message } : { status: 'fail', message, fix };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 'fail', message: message.replace(/\.$/, ''), fix };
  }
}
