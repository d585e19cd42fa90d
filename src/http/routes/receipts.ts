import type { Log } from '../../actors/ports/log.ts';
import type { ReceiptSource } from '../../actors/ports/receipts.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';
import { taskOf } from './route.ts';

/** Media type of a receipt, a compact JWS. */
export const receiptType = 'application/jose';

export interface ReceiptPorts {
  receipts: ReceiptSource;
  log: Pick<Log, 'error'>;
}

/** `GET /tasks/{id}/calls/{call_id}/receipt`: a signed receipt of a call that has ended (docs/contract/audit.md). */
export function receiptsGet({ receipts, log }: ReceiptPorts) {
  return async function get(ctx: RoutedContext) {
    const { call_id: callId = '' } = ctx.params;
    const task = await taskOf(ctx);
    const answer = await receipts.issue(task.id, callId);
    if (answer.kind === 'broken') {
      const fields = { task_id: task.id, call_id: callId, reason: answer.reason };
      log.error(fields, 'audit: the log is broken, so a receipt was refused');
      throw broken(answer.reason);
    }
    if (answer.kind !== 'issued') throw problems[answer.kind]();
    ctx.type = receiptType;
    ctx.body = answer.receipt;
  };
}

function broken(reason: string): Problem {
  return new Problem(
    'audit_broken',
    `the log of this agent is broken, so nothing is signed: ${reason}; verify it with audit verify`,
  );
}

const problems = {
  earlier: () =>
    new Problem(
      'call_not_signed',
      'lines of this call are not signed, so it has no receipt: it began before the log was signed',
    ),
  unknown: () =>
    new Problem('call_not_found', 'the log of this agent has no such call of the task'),
  underWay: () =>
    new Problem('call_running', 'the call has not ended; ask for its receipt when it has'),
  unsigned: () =>
    new Problem(
      'log_not_signed',
      'this agent does not sign its log, so it has no receipts; set audit.sign: true in service.yaml and restart it',
    ),
};
