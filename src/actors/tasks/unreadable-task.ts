import { describeCrash } from '../../machines/task/describe-task.ts';
import { causes } from '../../machines/task/entered-state.ts';
import { unreadable } from '../../machines/task/failure-of.ts';
import { taskMachineVersion } from '../../machines/task/task-machine.ts';
import type { AuditEvent } from '../ports.ts';
import type { AgentEntity, StoredTask, TaskWrite } from '../records/records.ts';

/**
 * Returns what ends a task that cannot be gone on with, with what the log is told of it.
 *
 * @param at epoch milliseconds
 */
export function wordsOfUnreadable(
  { task: kept, auditSeq, ...stored }: StoredTask,
  envelope: AgentEntity,
  at: number,
): TaskWrite {
  const ended = describeCrash(kept, unreadable, at);
  const task = { ...ended, revision: kept.revision + 1 };
  const said = { ...envelope, ts: new Date(at).toISOString(), task_id: task.id };
  const state = stored.unreadable ?? kept.state;
  const events: AuditEvent[] = [
    { ...said, seq: auditSeq + 1, event: 'task_unreadable', fields: { state } },
    { ...said, seq: auditSeq + 2, event: 'session_end', fields: { state: 'failed' } },
  ];
  return {
    change: {
      task,
      expected: kept.revision,
      snapshot: null,
      machineVersion: taskMachineVersion,
      auditSeq: auditSeq + events.length,
      startedCall: null,
      entered: [{ state: 'failed', event: causes.unreadable, at }],
    },
    events,
  };
}
