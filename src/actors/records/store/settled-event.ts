import type { OpenOutcome } from '../../../machines/domain/ledger.ts';
import { settledFields } from '../../../machines/governance/limit-json.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Settlement, StatementEvent } from '../../ports/ledger.ts';

/** Returns the event of a statement on a call, from what the ledger has of the call. */
export function settledEvent(
  { fields, ...envelope }: StatementEvent,
  outcome: OpenOutcome,
  settled: Settlement,
): AuditEvent {
  return {
    ...envelope,
    task_id: outcome.taskId,
    event: 'limit_settled',
    fields: { ...settledFields(outcome, settled), ...fields },
  };
}
