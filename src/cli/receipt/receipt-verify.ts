import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import {
  AuditLogError,
  findLines,
  nodeKeyRing,
  passkeyFault,
  verifyReceipts,
} from '../../actors/records/records.ts';
import { codeOf } from '../../machines/error-code.ts';
import type { JsonObject } from '../../machines/json.ts';
import { messageOf } from '../../machines/message-of.ts';
import { keysOf } from '../audit/audit-keys.ts';
import { auditFolderOf } from '../audit/audit-path.ts';
import { readKeys } from '../audit/read-keys.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';

export interface ReceiptVerifyOptions {
  dir?: string;
  keys?: string;
  log?: string[];
}

/**
 * `receipt verify FILE`: checks the signature of every receipt in a file and those of its passkeys, and with --log that the log has its lines and
 * that they state the same (docs/contract/audit.md).
 */
export async function receiptVerify(
  session: Session,
  file: string,
  { dir, keys: source, log }: ReceiptVerifyOptions,
): Promise<void> {
  const { output } = session;
  const keys =
    source === undefined
      ? await keysOf(auditFolderOf(dir, session), session)
      : await readKeys(source);
  const ring = nodeKeyRing(keys);
  const receipts = (await textOf(file))
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (receipts.length === 0) throw broken(file, 'it holds no receipt');
  const verdicts = await verifyReceipts(receipts, {
    keys: ring,
    findLines: log === undefined ? null : findLines(log),
  }).catch((error: unknown) => {
    throw error instanceof AuditLogError ? unreadable(error) : error;
  });
  const verified = verdicts.map((verdict) => {
    if (!verdict.ok) throw broken(file, verdict.reason);
    return verdict.claims;
  });
  for (const claims of verified) {
    const fault = await passkeyFault(claims);
    if (fault !== null) throw broken(file, fault);
  }
  if (output.isJson) return output.json({ receipts: verified, log: log ?? [] });
  for (const claims of verified) output.line(plainLine(sentenceOf(claims, log !== undefined)));
}

const summary = z.looseObject({
  task_id: z.string(),
  call_id: z.string(),
  asked: z.looseObject({ tool: z.string().default('?') }),
  ran: z.looseObject({ outcome: z.string() }).nullable(),
  decisions: z.array(
    z.looseObject({
      decision: z.string(),
      approver: z.string(),
      for: z.string().optional(),
      authorized: z.boolean().optional(),
      passkey: z.object({}).optional(),
    }),
  ),
});

/** Throws a ZodError for claims that are no receipt's; a signed receipt has them. */
function sentenceOf(claims: JsonObject, isInLog: boolean): string {
  const { task_id: task, call_id: call, asked, ran, decisions } = summary.parse(claims);
  const counted = decisions
    .filter(({ authorized }) => authorized !== false)
    .map(({ decision, approver, for: delegator, passkey }) => {
      const right = delegator === undefined ? '' : ` for ${delegator}`;
      const how = passkey === undefined ? '' : ' with a passkey';
      return `${decision === 'approve' ? 'approved' : 'rejected'} by ${approver}${right}${how}`;
    });
  const where = isInLog ? 'signed, and the log has its lines' : 'signed';
  const story = [`${asked.tool}: ${ran?.outcome ?? 'not run'}`, ...counted].join(', ');
  return `${task} ${call}: ${where}; ${story}`;
}

function unreadable(error: AuditLogError): CliError {
  return new CliError(plainLine(error.message), {
    code: error.code,
    exitCode: codeOf(error.cause) === 'ENOENT' ? exitCodes.notFound : exitCodes.failed,
    cause: error,
  });
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(plainLine(`${path} cannot be read: ${messageOf(error)}`), {
      code: 'receipt_unreadable',
      exitCode: codeOf(error) === 'ENOENT' ? exitCodes.notFound : exitCodes.failed,
      cause: error,
    });
  }
}

function broken(file: string, reason: string): CliError {
  return new CliError(plainLine(`${file}: ${reason}`), {
    code: 'receipt_broken',
    exitCode: exitCodes.auditBroken,
    hint: 'compare it with a copy, and check that --keys names the keys of the agent',
  });
}
