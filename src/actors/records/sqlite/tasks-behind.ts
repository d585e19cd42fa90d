import { markOfCall, markOfDeferral } from '../../../machines/domain/call-mark.ts';
import type { Failure, Task } from '../../../machines/domain/task.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { describeCrash } from '../../../machines/task/describe-task.ts';
import { causes } from '../../../machines/task/entered-state.ts';
import { outcomeInLog } from '../../../machines/task/failure-of.ts';
import type { TaskContext } from '../../../machines/task/task-input.ts';
import { taskMachineVersion } from '../../../machines/task/task-machine.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { auditEventOf } from '../log/audit.ts';
import type { StoredTask } from '../store/task-rows.ts';
import type { SqliteTaskRows } from './sqlite-task-rows.ts';
import { TaskInLog, taskOfLine } from './task-in-log.ts';

/**
 * Tasks affected by log lines that the store does not know: unfinished tasks in the store, and tasks that the lines
 * show as running. Since further lines may be missing, these tasks are ended, so that no call runs twice
 * (docs/contract/audit.md).
 */
export class TasksBehind {
  readonly #rows: SqliteTaskRows;
  readonly #unfinished: ReadonlySet<string>;
  readonly #tasks = new Map<string, TaskInLog>();

  constructor(rows: SqliteTaskRows) {
    this.#rows = rows;
    this.#unfinished = new Set(rows.unfinishedNow());
  }

  /** Processes the next line that the store does not know. */
  take(line: JsonObject): void {
    const id = taskOfLine(line);
    if (id === null) return;
    const task = this.#find(id);
    task.take(line);
    if (!task.isUnderWay && !this.#unfinished.has(id)) this.#tasks.delete(id);
  }

  /** Includes every unfinished task of the store, since lines that named it may be missing. */
  takeAll(): void {
    for (const id of this.#unfinished) this.#find(id);
  }

  /** Includes every running task of the store, but none that waits. */
  takeRunning(): void {
    for (const id of this.#rows.workingNow()) this.#find(id);
  }

  /**
   * Ends the tasks in the store within its open transaction; returns their events.
   *
   * @param at epoch milliseconds
   */
  end(at: number, failure: Failure = outcomeInLog): { tasks: number; events: AuditEvent[] } {
    const events = [...this.#tasks.values()].flatMap((task) => this.#end(task, at, failure));
    return { tasks: this.#tasks.size, events };
  }

  #find(id: string): TaskInLog {
    const found = this.#tasks.get(id);
    if (found !== undefined) return found;
    const stored = this.#unfinished.has(id) ? this.#rows.readNow(id) : undefined;
    const task = stored === undefined ? new TaskInLog(id) : fromStore(stored);
    this.#tasks.set(id, task);
    return task;
  }

  #end(task: TaskInLog, at: number, failure: Failure): AuditEvent[] {
    const stored = this.#rows.readNow(task.id);
    const events = lastWords(task, at, failure);
    const before = stored?.task ?? unknownTask(task, at);
    const { revision } = before;
    this.#rows.write({
      task: { ...describeCrash(before, failure, at), revision: revision + 1 },
      expected: revision,
      snapshot: null,
      machineVersion: taskMachineVersion,
      auditSeq: Math.max(stored?.auditSeq ?? 0, task.seq + events.length),
      startedCall: null,
      entered: [{ state: 'failed', event: causes.lost, at }],
    });
    return events;
  }
}

/** Creates a task's state from the store, before the newer log lines. */
function fromStore({ task, snapshot, auditSeq, startedCall }: StoredTask): TaskInLog {
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
    const argsSize = Buffer.byteLength(JSON.stringify(call.args));
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
