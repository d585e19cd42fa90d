import { describeCrash } from '../../machines/task/describe-task.ts';
import { causes } from '../../machines/task/entered-state.ts';
import { unreadable } from '../../machines/task/failure-of.ts';
import { taskMachineVersion } from '../../machines/task/snapshot-steps.ts';
import type { AuditEvent } from '../ports/audit-event.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { AgentEntity, StoredTask, TaskStore, TaskWrite } from '../records/records.ts';
import type { Watchers } from './watchers.ts';

export interface UnreadablePorts {
  store: TaskStore;
  clock: Clock;
  envelope: AgentEntity;
  log: Log;
  watchers: Pick<Watchers, 'changed'>;
}

/** Ends a task whose row is unreadable, so that callers waiting for it are notified. */
export function endUnreadable(
  stored: StoredTask,
  { store, clock, envelope, log, watchers }: UnreadablePorts,
): void {
  const { id } = stored.task;
  const write = wordsOfUnreadable(stored, envelope, clock.now());
  log.error({ task_id: id }, 'task: its record cannot be read, so the task failed');
  store
    .save(id, () => write)
    .then(
      () => watchers.changed(write.change.task, stored.task),
      (failure: unknown) => log.error({ error: failure, task_id: id }, 'task: could not be ended'),
    );
}

/** Returns the final change of the task and its audit events; `at` is in epoch milliseconds. */
function wordsOfUnreadable(
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
