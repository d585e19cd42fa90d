import type { JsonObject } from '../../../machines/json.ts';
import { describeCrash } from '../../../machines/task/describe-task.ts';
import { causes } from '../../../machines/task/entered-state.ts';
import { outcomeInLog } from '../../../machines/task/failure-of.ts';
import type { Task } from '../../../machines/task/task.ts';
import type { TaskContext } from '../../../machines/task/task-input.ts';
import { taskMachineVersion } from '../../../machines/task/task-machine.ts';
import type { AuditEvent } from '../../ports.ts';
import { auditEventOf } from '../log/audit.ts';
import type { StoredTask } from '../store/task-rows.ts';
import type { SqliteTaskRows } from './sqlite-task-rows.ts';
import { TaskInLog, taskOfLine } from './task-in-log.ts';

/**
 * The tasks that lines of the log name which the store does not know: those that the store has unfinished, and those
 * that the lines say are under way. As nobody can tell what the lines did not come to say, they are ended, so that
 * nothing which ran may run again (docs/contract/audit.md).
 */
export class TasksBehind {
  readonly #rows: SqliteTaskRows;
  readonly #unfinished: ReadonlySet<string>;
  readonly #tasks = new Map<string, TaskInLog>();

  constructor(rows: SqliteTaskRows) {
    this.#rows = rows;
    this.#unfinished = new Set(rows.unfinishedNow());
  }

  /** Takes in the next line that the store does not know. */
  take(line: JsonObject): void {
    const id = taskOfLine(line);
    if (id === null) return;
    const task = this.#find(id);
    task.take(line);
    if (!task.isUnderWay && !this.#unfinished.has(id)) this.#tasks.delete(id);
  }

  /** Takes in every unfinished task of the store, since lines that might have named it are gone. */
  takeAll(): void {
    for (const id of this.#unfinished) this.#find(id);
  }

  /**
   * Ends the tasks in the store, within its open transaction; returns what there is to say of them.
   *
   * @param at epoch milliseconds
   */
  end(at: number): { tasks: number; events: AuditEvent[] } {
    const events = [...this.#tasks.values()].flatMap((task) => this.#end(task, at));
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

  #end(task: TaskInLog, at: number): AuditEvent[] {
    const stored = this.#rows.readNow(task.id);
    const events = lastWords(task, at);
    const before = stored?.task ?? unknownTask(task, at);
    const { revision } = before;
    this.#rows.write({
      task: { ...describeCrash(before, outcomeInLog, at), revision: revision + 1 },
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

/** A task as the store knows it, before the lines that say more of it. */
function fromStore({ task, snapshot, auditSeq, startedCall }: StoredTask): TaskInLog {
  const known = new TaskInLog(task.id);
  known.seq = auditSeq;
  known.isUnderWay = true;
  const { deferral } = task;
  if (deferral !== null) known.waiting = { tool: deferral.tool, since: deferral.requestedAt };
  const context = (snapshot as { context?: Partial<TaskContext> } | null)?.context;
  const call = context?.pending?.[0];
  if (startedCall !== null && call !== undefined) {
    const argsSize = Buffer.byteLength(JSON.stringify(call.args));
    known.started = { tool: call.tool, since: context?.startedAt || task.changedAt, argsSize };
  }
  return known;
}

/** A run that nobody has said the end of is ended in the log too: its wait, its call, and itself. */
function lastWords(
  { envelope, seq, isUnderWay, waiting, started }: TaskInLog,
  at: number,
): AuditEvent[] {
  if (!isUnderWay) return [];
  const facts = [
    ...(waiting === null
      ? []
      : [
          {
            type: 'deferral.abandoned',
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
            tool: started.tool,
            duration: Math.max(0, at - started.since),
            argsSize: started.argsSize,
            resultSize: 0,
            error: outcomeInLog.text,
          } as const,
        ]),
    { type: 'session.ended', state: 'failed' } as const,
  ];
  const ts = new Date(at).toISOString();
  return facts.map((fact, index) => auditEventOf(fact, { ...envelope, ts, seq: seq + 1 + index }));
}

/** What is left of a task that only the log knows. */
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
