import { hash } from 'node:crypto';
import type { LineSigner } from '../../src/actors/records/log/line-signer.ts';
import { receiptClaims } from '../../src/actors/records/log/receipt-claims.ts';
import { signReceipt } from '../../src/actors/records/log/sign-receipt.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { logOf } from '../actors/records/log/log-of.ts';

const digest = (letter: string): string => letter.repeat(64);

/**
 * Issues the receipt of call `c-1` over lines of a log, each with its newline; by default those of a call that a person
 * released.
 */
export function receiptOfCall(
  signer: LineSigner,
  lines: readonly string[] = linesOfCall(signer),
): { lines: readonly string[]; receipt: string } {
  const hashed = lines.map((line) => ({
    ...{ line: JSON.parse(line), sha256: hash('sha256', line.trimEnd(), 'hex') },
  }));
  const claims = receiptClaims(hashed, 'c-1') as JsonObject;
  const issued = { ...claims, issued_at: '2026-07-01T09:00:09.000Z' };
  return { lines, receipt: signReceipt(issued, signer) };
}

function linesOfCall(signer: LineSigner): string[] {
  const call = {
    ...{ call_id: 'c-1', deferral_id: 'c-1', tool: 'issue_refund' },
    ...{ args_sha256: digest('a'), runs_sha256: digest('b'), policy_sha256: digest('c') },
  };
  const at = (second: number) => `2026-07-01T09:00:0${second}.000Z`;
  const event = (seq: number, name: string, fields: object) => ({
    ...{ event: name, seq, task_id: 't-1', ts: at(seq), fields: fields as JsonObject },
  });
  return logOf(
    [
      event(1, 'session_start', { user_id: 'u-7', email: 'rita@example.com', provider: 'sso' }),
      event(2, 'call_ruled', {
        ...{ ...call, decision: 'defer', layer: 'defer', rule: 'defer.tools.issue_refund[0]' },
        reason: 'awaiting channel:slack:#refunds',
      }),
      event(3, 'task_deferred', {
        ...{
          ...call,
          to: 'channel:slack:#refunds',
          context: 'Refund order A-1042',
          timeout_ms: 6e4,
        },
      }),
      event(4, 'task_deferred_decision', {
        ...{ ...call, decision: 'approve', approver: 'ann@example.com', note: 'seen the photo' },
        ...{ method: 'token', vouched_by: 'token:sso', provider: 'sso', user_id: 'u-9' },
      }),
      event(5, 'tool_exec', { ...call, phase: 'start', args: { amount: 89.9, order: 'A-1042' } }),
      event(6, 'tool_exec', {
        ...{ ...call, phase: 'end', outcome: 'succeeded', duration_ms: 412 },
        ...{ result_size: 24, result_sha256: digest('d') },
      }),
    ],
    undefined,
    signer,
  ).lines;
}

/** A receipt with a string of its claims replaced, under the old signature. */
export function editedReceipt(receipt: string, from: string, to: string): string {
  const [header, claims = '', signature] = receipt.split('.');
  const text = Buffer.from(claims, 'base64url').toString();
  if (!text.includes(from)) throw new Error(`the receipt does not state ${from}`);
  return [header, Buffer.from(text.replace(from, to)).toString('base64url'), signature].join('.');
}
