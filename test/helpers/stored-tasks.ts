import type { AuditEvent } from '../../src/actors/ports/audit-event.ts';
import type { TaskChange } from '../../src/actors/records/store/task-rows.ts';
import type { TaskWrite } from '../../src/actors/records/store/task-store.ts';
import type { HoldState } from '../../src/machines/domain/hold.ts';
import type { Task } from '../../src/machines/domain/task.ts';
import { taskMachineVersion } from '../../src/machines/task/snapshot-steps.ts';
import { aDeferral } from './task-fixtures.ts';

/** A task at work, as a store keeps it. */
export function aTask(overrides: Partial<Task> = {}): Task {
  return {
    id: 't-1',
    contextId: 'context-1',
    state: 'working',
    text: null,
    changedAt: 1_000,
    createdAt: 1_000,
    revision: 1,
    history: [],
    answer: null,
    surface: 'legacy',
    requester: null,
    deferral: null,
    stage: null,
    wakeAt: null,
    settled: null,
    failure: null,
    records: [],
    ...overrides,
  };
}

/** A task that waits for a decision until a time. */
export function aParkedTask(id: string, expiresAt: number, revision = 1): Task {
  return aTask({
    id,
    revision,
    state: 'deferred',
    deferral: aDeferral({ id: `${id}-d`, expiresAt }),
    stage: 'asked',
    wakeAt: expiresAt,
  });
}

/** A decided call that its own program runs; it is due at a time until its outcome is known. */
export function aDecidedHold(id: string, state: HoldState, dueAt = 5_000): Task {
  const isDue = state === 'granted' || state === 'released';
  return aTask({
    ...{ id, state: 'completed', surface: 'hold', wakeAt: isDue ? dueAt : null },
    hold: {
      ...{ key: 'k', tool: 'pay', askedSha256: 'aa', releaseWithin: 1_000, outcomeWithin: 1_000 },
      granted: { callId: 'c', args: {}, argsSha256: 'bb' },
      account: { state, grantedAt: 1, releasedAt: null, outcome: null },
    },
  });
}

/** The change that puts a task into a store; it replaces the revision before its own. */
function aChange(task: Task, overrides: Partial<TaskChange> = {}): TaskChange {
  return {
    task,
    expected: task.revision - 1,
    snapshot: { value: task.state },
    machineVersion: taskMachineVersion,
    auditSeq: task.revision,
    startedCall: null,
    ...overrides,
  };
}

/** A change with one audit event that names it. */
export function aWrite(task: Task, overrides: Partial<TaskChange> = {}): TaskWrite {
  return { change: aChange(task, overrides), events: [anEvent(task.id, task.revision)] };
}

/** An audit event of a task. */
export function anEvent(taskId: string, seq = 1): AuditEvent {
  return { event: 'tool_exec', ts: '2026-07-01T09:00:00.000Z', task_id: taskId, seq };
}
