import { type LedgerChange, type OpenOutcome, settledBy } from '../../../machines/domain/ledger.ts';
import { settledFields } from '../../../machines/governance/limit-json.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Settlement, StatementEvent } from '../../ports/ledger.ts';
import { isEntry, type LedgerRow, openOutcomeOf } from './ledger-rows.ts';
import type { TaskChange } from './task-rows.ts';
import type { TaskWrite } from './task-store.ts';

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

/** Returns the calls of a change that succeeded after their outcome had been unknown. */
export function lateSuccesses({ ledger = [] }: TaskChange): string[] {
  return ledger.flatMap((change) => (isLateSuccess(change) ? [change.callId] : []));
}

/** True for the success of a call whose outcome had been unknown. */
export function isLateSuccess(change: LedgerChange): boolean {
  return change.type === 'ended' && change.end === 'succeeded' && change.wasUnknown === true;
}

/** Returns the statement that a call did not run, contradicted by its success, from its rows; `null` for no such statement. */
export function contradicted(rows: readonly LedgerRow[], at: number): Settlement | null {
  const outcome = rows.find(({ kind, state }) => kind === 'outcome' && state === 'settled');
  if (typeof outcome?.settled !== 'string') return null;
  const settled = JSON.parse(outcome.settled) as Settlement;
  const isContradicted = !settled.ran && settled.contradictedAt === undefined;
  return isContradicted ? { ...settled, contradictedAt: at } : null;
}

/** Returns the events of late successes that contradict statements of people. */
export function contradictions(
  { change, events }: TaskWrite,
  rowsOf: (callId: string) => readonly LedgerRow[],
): AuditEvent[] {
  const at = change.task.changedAt;
  return lateSuccesses(change).flatMap((callId) => {
    const rows = rowsOf(callId);
    const statement = contradicted(rows, at);
    const outcome = rows.find(({ kind }) => kind === 'outcome');
    if (statement === null || outcome === undefined) return [];
    const { seq: _, fields: __, ...envelope } = events.at(-1) ?? { ts: new Date(at).toISOString() };
    const { ran, by } = statement;
    const contradicts = { ran, by, at: new Date(statement.at).toISOString() };
    const reason = 'the call was reported as succeeded after the statement';
    return [
      settledEvent(
        { ...envelope, fields: { method: 'late_outcome', contradicts } },
        openOutcomeOf(outcome, rows.filter(isEntry)),
        { ran: true, by: settledBy(outcome.tool), reason, at },
      ),
    ];
  });
}
