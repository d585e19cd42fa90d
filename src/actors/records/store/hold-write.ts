import type { LedgerChange, LedgerEntry } from '../../../machines/domain/ledger.ts';
import type { Task } from '../../../machines/domain/task.ts';
import { newOutcomes } from '../../../machines/task/decided-calls.ts';
import { type HoldStep, holdAfter } from '../../../machines/task/held-elsewhere.ts';
import { ledgerChanges } from '../../../machines/task/ledger-changes.ts';
import type { AgentEntity } from '../log/agent-entity.ts';
import { auditEventOf } from '../log/audit.ts';
import type { StoredTask } from './task-rows.ts';
import type { TaskWrite } from './task-store.ts';

export interface HoldWriteParts {
  envelope: AgentEntity | null;
  /** Epoch milliseconds. */
  at: number;
  /** What the ledger reserved for a call that its program receives now; absent for nothing. */
  reserved?: readonly LedgerEntry[];
}

/**
 * Creates the row and the events of a decided hold after a step.
 */
export function holdWrite(
  stored: StoredTask,
  { task: changed, facts }: HoldStep,
  { envelope, at, reserved }: HoldWriteParts,
): TaskWrite {
  const { revision: expected, tags, hold } = stored.task;
  const policySha256 = hold?.granted?.policySha256;
  const { machineVersion, startedCall } = stored;
  const task = withReserved({ ...changed, revision: expected + 1 }, reserved);
  const auditSeq = stored.auditSeq + facts.length;
  const ts = new Date(at).toISOString();
  const said = { ...envelope, ...tags, ts, task_id: task.id };
  const outcomes = newOutcomes(stored.task, task);
  const ledger = [...renewed(task, reserved, at), ...ledgerChanges(stored, { task, startedCall })];
  return {
    change: {
      ...{ task, expected, snapshot: null, machineVersion, auditSeq, startedCall },
      ...(outcomes.length === 0 ? {} : { outcomes }),
      ...(ledger.length === 0 ? {} : { ledger }),
    },
    events: facts.map((fact, index) =>
      auditEventOf(
        fact,
        { ...said, seq: stored.auditSeq + 1 + index },
        { policySha256, isHold: true },
      ),
    ),
  };
}

/** Stores with a call what the ledger reserved for it at its release to the program. */
function withReserved(task: Task, reserved: readonly LedgerEntry[] = []): Task {
  const { ran = [], hold } = task;
  if (reserved.length === 0) return task;
  const callId = hold?.granted?.callId;
  return { ...task, ran: ran.map((one) => (one.callId === callId ? { ...one, reserved } : one)) };
}

function renewed(
  { ran = [], hold }: Task,
  entries: readonly LedgerEntry[] = [],
  at: number,
): LedgerChange[] {
  const call = ran.find(({ callId }) => callId === hold?.granted?.callId);
  if (call === undefined || entries.length === 0) return [];
  const { callId, tool, argsSha256 } = call;
  return [{ type: 'started', callId, tool, argsSha256, at, entries, renews: true }];
}

/**
 * SQL condition for tasks with a decided call that its program has not received, or whose outcome is not known.
 */
export const isHoldDue = `deadline_at IS NOT NULL AND state = 'completed'`;

/**
 * Creates the row and the event of an approved call that the store shows as not received, although its program may have
 * received it: the call is released to no other process, and its outcome still counts. Returns `null` for any other
 * task.
 *
 * @param at epoch milliseconds
 */
export function restoredHold(
  stored: StoredTask,
  by: { envelope: AgentEntity | null; at: number },
): TaskWrite | null {
  const step = holdAfter(stored.task, { type: 'hold.restored' });
  return step === null ? null : holdWrite(stored, step, by);
}
