import { markOfCall, markOfDeferral } from '../../../machines/domain/call-mark.ts';
import type { Failure, Task } from '../../../machines/domain/task.ts';
import { describeCrash } from '../../../machines/task/describe-task.ts';
import { causes } from '../../../machines/task/entered-state.ts';
import { ledgerChanges } from '../../../machines/task/ledger-changes.ts';
import { taskMachineVersion } from '../../../machines/task/snapshot-steps.ts';
import type { TaskContext } from '../../../machines/task/task-input.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { auditEventOf } from '../log/audit.ts';
import { TaskInLog } from './task-in-log.ts';
import type { StoredTask } from './task-rows.ts';
import type { TaskWrite } from './task-store.ts';

/**
 * Ends a task that no daemon continues: its last row and its closing events.
 *
 * @param stored its row; `undefined` for a task that exists only in the log
 * @param at epoch milliseconds
 */
export function endOfTask(
  task: TaskInLog,
  stored: StoredTask | undefined,
  { at, failure }: { at: number; failure: Failure },
): TaskWrite {
  const events = lastWords(task, at, failure);
  const before = stored?.task ?? unknownTask(task, at);
  const { revision } = before;
  const ended = { ...describeCrash(before, failure, at), revision: revision + 1 };
  const ledger = ledgerChanges(stored ?? null, { task: ended, startedCall: null });
  const change = {
    task: ended,
    expected: revision,
    snapshot: null,
    machineVersion: taskMachineVersion,
    auditSeq: Math.max(stored?.auditSeq ?? 0, task.seq + events.length),
    startedCall: null,
    entered: [{ state: 'failed', event: causes.lost, at }],
    ...(ledger.length === 0 ? {} : { ledger }),
  };
  return { change, events };
}

/** Returns what the log has of a task so far, from its row. */
export function taskInStore({ task, snapshot, auditSeq, startedCall }: StoredTask): TaskInLog {
  const known = new TaskInLog(task.id);
  known.seq = auditSeq;
  known.isUnderWay = true;
  const { deferral } = task;
  if (deferral !== null) {
    const { tool, requestedAt: since } = deferral;
    const ofHold = task.hold === undefined ? {} : ({ isHold: true } as const);
    known.waiting = { call: markOfDeferral(deferral), tool, since, ...ofHold };
  }
  const context = (snapshot as { context?: Partial<TaskContext> } | null)?.context;
  const call = context?.pending?.[0];
  if (startedCall !== null && call !== undefined) {
    // Another release may store its calls in another form.
    const argsSize = Buffer.byteLength(JSON.stringify(call.args ?? null));
    const { held = null } = context ?? {};
    const isReleased = held?.isReleased === true && held.deferral.id === call.id;
    known.started = {
      call: isReleased ? markOfDeferral(held.deferral) : markOfCall(call),
      tool: call.tool,
      since: context?.startedAt || task.changedAt,
      argsSize,
    };
  }
  return known;
}

/** Creates the closing events of an unfinished run: its wait, its call, and the run itself. */
function lastWords(
  { envelope, seq, isUnderWay, waiting, started }: TaskInLog,
  at: number,
  failure: Failure,
): AuditEvent[] {
  if (!isUnderWay) return [];
  const facts = [
    ...(waiting === null
      ? []
      : [
          {
            type: 'deferral.abandoned',
            call: waiting.call,
            tool: waiting.tool,
            reason: 'service_restart',
            wait: Math.max(0, at - waiting.since),
          } as const,
        ]),
    ...(started === null
      ? []
      : [
          {
            type: 'tool.ended',
            call: started.call,
            tool: started.tool,
            duration: Math.max(0, at - started.since),
            argsSize: started.argsSize,
            resultSize: 0,
            outcome: 'unknown',
            error: failure.text,
          } as const,
        ]),
    { type: 'session.ended', state: 'failed' } as const,
  ];
  const ts = new Date(at).toISOString();
  const policySha256 = (started ?? waiting)?.policySha256;
  const source = { policySha256, isHold: waiting?.isHold === true };
  return facts.map((fact, index) =>
    auditEventOf(fact, { ...envelope, ts, seq: seq + 1 + index }, source),
  );
}

/** Creates the remainder of a task that exists only in the log. */
function unknownTask({ id, since }: TaskInLog, at: number): Task {
  return {
    id,
    contextId: id,
    state: 'working',
    text: null,
    changedAt: at,
    createdAt: since === 0 ? at : since,
    revision: 0,
    history: [],
    answer: null,
    requester: null,
    surface: 'legacy',
    deferral: null,
    stage: null,
    wakeAt: null,
    settled: null,
    failure: null,
    records: [],
  };
}
