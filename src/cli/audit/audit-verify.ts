import { type ChainVerdict, verdictSentence, verifyFiles } from '../../actors/audit/audit.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';

export interface AuditVerifyOptions {
  keys?: string;
  requireSigned?: boolean;
}

/** `audit verify FILE…`: checks lines and chain across the files in order (contract section 10). */
export async function auditVerify(
  { output }: Session,
  files: readonly string[],
  { keys, requireSigned = false }: AuditVerifyOptions,
): Promise<void> {
  if (keys !== undefined) throw signaturesUnavailable();
  const verdict = await verifyFiles(files);
  const sentence = plainLine(verdictSentence(verdict));
  if (!verdict.ok) throw broken(sentence, verdict);
  if (requireSigned && verdict.events > 0) throw unproven(verdict);
  if (verdict.signed > 0) output.warn('signatures are not checked in this version');
  const { events, signed, head } = verdict;
  output.line(sentence);
  output.json({ ok: true, events, signed, head });
}

function signaturesUnavailable(): CliError {
  return new CliError('signatures cannot be checked in this version, so --keys is of no use', {
    code: 'signing_unavailable',
    exitCode: exitCodes.usage,
    hint: 'leave it out to check lines and chain',
  });
}

function broken(sentence: string, verdict: ChainVerdict): CliError {
  return new CliError(sentence, {
    code: 'audit_broken',
    exitCode: exitCodes.auditBroken,
    hint: 'keep the files as they are and compare them with a copy',
    details: { ...verdict },
  });
}

/** A signature nobody checked proves nothing, so lines that carry one do not pass either. */
function unproven({ events, signed }: Extract<ChainVerdict, { ok: true }>): CliError {
  const message =
    signed < events
      ? `${events - signed} of ${events} events are not signed`
      : `${signed} events are signed, but signatures cannot be checked in this version`;
  return new CliError(message, {
    code: 'audit_unsigned',
    exitCode: exitCodes.auditBroken,
    hint: 'leave out --require-signed to check lines and chain',
    details: { ok: false, events, signed },
  });
}
