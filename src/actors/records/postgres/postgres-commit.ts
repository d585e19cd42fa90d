import type { QueryResult } from 'pg';
import { isFinal, type Task, type TaskState } from '../../../machines/domain/task.ts';
import { codeOf } from '../../../machines/error-code.ts';
import type { LedgerRow } from '../store/ledger-rows.ts';
import { contradictions, lateSuccesses } from '../store/settled-event.ts';
import { briefColumns, rowOf, type TaskRow, taskOf } from '../store/task-row.ts';
import { ConflictError, type TaskWrite, UnreservedError } from '../store/task-store.ts';
import { waitedIn } from '../store/waited-in.ts';
import { appendLog, type HeadRow, headOf, lockHead } from './append-log.ts';
import {
  type Batch,
  type Before,
  type CommitSettings,
  exactly,
  type Ground,
  type Head,
  overtaken,
  type Statement,
} from './commit-batch.ts';
import type { JobChanges, JobWriter } from './job-writer.ts';
import { parameterOf } from './parameter-of.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { callsToLock, isReserved, lockCalls, putLedger, settleCalls } from './put-ledger.ts';
import { putParts, type WrittenTask } from './put-parts.ts';
import { valuesSql } from './task-values.ts';

/** Tasks whose last state this daemon remembers. */
const mostKnown = 2_000;

/** Rows that the commit had locked or that no other may write were changed. */
class OvertakenError extends Error {
  /** SQLSTATE of a transaction that should be retried. */
  readonly code = '40001';
}

/** Statements of a batch, and what follows from it. */
interface Prepared {
  statements: Statement[];
  refused: ReadonlyMap<string, Error>;
  writes: readonly WrittenTask[];
  jobs: JobChanges;
  head: Head;
}

/**
 * Writes commits in one round trip. It builds on what this daemon wrote last; if that is no longer the state of the store, the
 * server refuses the whole commit, and the next attempt locks and reads the state first, in a round trip of its own.
 */
export class CommitWriter {
  /** No jobs are written before the engine is attached. */
  jobs: JobWriter = { statements: async () => [], committed: () => undefined };
  readonly #database: PostgresDatabase;
  readonly #settings: CommitSettings;
  readonly #known = new Map<string, Before>();
  #head: Head | null = null;
  #sent: Prepared | null = null;
  /** True if another daemon committed between the last two commits: then another one probably will again. */
  #isContended = true;

  constructor(database: PostgresDatabase, settings: CommitSettings) {
    this.#database = database;
    this.#settings = settings;
  }

  /**
   * Writes a batch; returns the refused tasks with their errors: a concurrent change was first, or a reservation ended.
   *
   * @param isUnsure true if an earlier attempt may have succeeded
   */
  async write(batch: Batch, isUnsure: boolean): Promise<ReadonlyMap<string, Error>> {
    const known = isUnsure || this.#isContended ? null : this.#groundOf(batch);
    try {
      if (known === null) return await this.#writeRead(batch, isUnsure);
      const { statements } = await this.#prepare(batch, known, false);
      await this.#database.pipelined([], async () => statements);
      return this.#written();
    } catch (error) {
      if (codeOf(error) !== overtaken) throw error;
      if (known !== null) return this.#writeRead(batch, false);
      throw new OvertakenError('the store changed during a commit', { cause: error });
    }
  }

  /** Returns what is known about the state before a batch; `null` if that is not all it needs. */
  #groundOf({ writes, settlings }: Batch): Ground | null {
    if (this.#head === null || settlings.length > 0) return null;
    // Statements of people on these calls are read.
    if (writes.some(({ change }) => lateSuccesses(change).length > 0)) return null;
    const before = new Map<string, Before>();
    for (const { change } of writes) {
      if (change.expected === 0) continue;
      const known = this.#known.get(change.task.id);
      if (known?.revision !== change.expected) return null;
      before.set(change.task.id, known);
    }
    // Whether a message is free is known only to the server.
    const keys = keysOf(writes);
    if (new Set(keys).size < keys.length) return null;
    return { head: this.#head, before, ledTo: new Map(), ledger: null };
  }

  async #writeRead(batch: Batch, isUnsure: boolean): Promise<ReadonlyMap<string, Error>> {
    const { replica } = this.#settings;
    const calls = callsToLock(batch.writes, batch.settlings);
    await this.#database.pipelined(
      [
        { text: lockHead, values: [] },
        { text: 'SELECT commits FROM replicas WHERE id = $1 FOR UPDATE', values: [replica] },
        { text: lockTasks, values: [batch.writes.map(({ change }) => change.task.id)] },
        { text: findMessages, values: [keysOf(batch.writes)] },
        ...(calls.length === 0 ? [] : [{ text: lockCalls, values: [calls] }]),
      ],
      async ([head, own, tasks, messages, ledger]) => {
        const [last] = rowsOf<{ commits: number }>(own);
        // The attempt that was sent last has succeeded.
        if (isUnsure && last?.commits === batch.number) return null;
        const ground = {
          head: headOf(rowsOf<HeadRow>(head)[0] as HeadRow, this.#settings),
          before: new Map(rowsOf<TaskRow>(tasks).map((row) => [String(row['id']), beforeOf(row)])),
          ledTo: new Map(
            rowsOf<{ key: string; task_id: string }>(messages).map((row) => [row.key, row.task_id]),
          ),
          ledger: rowsOf<LedgerRow>(ledger),
        };
        this.#isContended = ground.head.hash !== this.#head?.hash;
        return (await this.#prepare(batch, ground, true)).statements;
      },
    );
    return this.#written();
  }

  async #prepare(batch: Batch, ground: Ground, isRead: boolean): Promise<Prepared> {
    const { ledger } = ground;
    // A call that succeeds in the same commit counts, also against a statement.
    const settling = settleCalls(batch.settlings, ledger ?? []);
    const { rows } = settling;
    const rowsOfCall = (callId: string) => rows.filter((row) => row.call_id === callId);
    const isHeld = ({ change }: TaskWrite) => ledger === null || isReserved(change, ledger);
    const free = batch.writes.filter(
      (write) =>
        write.change.expected === (ground.before.get(write.change.task.id)?.revision ?? 0) &&
        isHeld(write),
    );
    const taken = takenMessages(free, ground.ledTo);
    const writes = free
      .filter(({ change }) => !taken.has(change.task.id))
      .map((write) => ({
        ...write,
        ...rowOf(write.change),
        events: [...write.events, ...contradictions(write, rowsOfCall)],
      }));
    const written = new Set(writes.map(({ change }) => change.task.id));
    const refused = new Map(
      batch.writes
        .filter(({ change }) => !written.has(change.task.id))
        .map((write) => [write.change.task.id, refusalOf(write.change.task.id, isHeld(write))]),
    );
    const jobs = jobsOf(writes, ground.before);
    const events = [...batch.events, ...settling.events];
    const log = appendLog(
      { ...batch, events, writes },
      [...refused.keys()],
      ground,
      this.#settings,
    );
    const statements = [
      log.first,
      ...putTasks(writes),
      ...putParts(writes, ground.before),
      ...settling.statements,
      ...putLedger(writes, rows),
      ...(await this.jobs.statements(jobs, isRead)),
      log.last,
    ];
    this.#sent = { statements, refused, writes, jobs, head: log.head };
    return this.#sent;
  }

  #written(): ReadonlyMap<string, Error> {
    const { refused, writes, jobs, head } = this.#sent as Prepared;
    this.#sent = null;
    this.jobs.committed(jobs);
    this.#head = head;
    for (const { change, columns } of writes) {
      this.#known.delete(change.task.id);
      if (isFinal(change.task.state)) continue;
      const { revision, state, deadline_at, deferral_id, approvers, has_values } = columns;
      const known = { revision, state, deadline_at, deferral_id, approvers, has_values };
      this.#known.set(change.task.id, { ...known, waited: waitedText(change.task) });
    }
    for (const id of this.#known.keys()) {
      if (this.#known.size <= mostKnown) break;
      this.#known.delete(id);
    }
    return refused;
  }
}

function refusalOf(id: string, isReservedStill: boolean): Error {
  return isReservedStill
    ? new ConflictError(`task ${id} was changed by another process`)
    : new UnreservedError(id);
}

function rowsOf<Row>(result: QueryResult | undefined): Row[] {
  return (result?.rows ?? []) as Row[];
}

const lockTasks = `SELECT ${briefColumns(valuesSql)}, deadline_at, deferral_id, approvers,
    has_values
  FROM tasks WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`;

const findMessages = 'SELECT key, task_id FROM sent_messages WHERE key = ANY($1::text[])';

/** Reads a row of `lockTasks`. */
function beforeOf(row: TaskRow): Before {
  const before = row as unknown as Omit<Before, 'waited'>;
  return { ...before, waited: before.deferral_id === null ? null : waitedText(taskOf(row)) };
}

/** Returns the owner data of a task while its call is held; `null` for one that does not wait. */
function waitedText(task: Task): string | null {
  return task.deferral === null
    ? null
    : JSON.stringify(waitedIn(task, { ...task, deferral: null }));
}

function keysOf(writes: readonly TaskWrite[]): string[] {
  return writes.flatMap(({ change: { sent = [] } }) => sent.map(({ key }) => key));
}

/**
 * Returns the tasks with a message that already belongs to another task, including by an earlier write of the batch.
 */
function takenMessages(
  writes: readonly TaskWrite[],
  before: ReadonlyMap<string, string>,
): Set<string> {
  const ledTo = new Map(before);
  const taken = new Set<string>();
  for (const { change } of writes) {
    const { sent = [], task } = change;
    const isFree = sent.every(({ key, supersedes }) =>
      [undefined, supersedes].includes(ledTo.get(key)),
    );
    if (!isFree) taken.add(task.id);
    else for (const { key } of sent) ledTo.set(key, task.id);
  }
  return taken;
}

const columns = `state text, revision bigint, changed_at bigint, deadline_at bigint, deferral_id text,
  machine_version integer, audit_seq bigint, started_call text, task text, snapshot text,
  context_id text, contents text, approvers text, owner_org text, owner text, expires_at bigint,
  open_hold text, has_values integer`;
const names = columns.split(',').map((column) => column.trim().split(' ')[0] ?? '');
const recordset = `json_to_recordset($1::text::json) AS x(n integer, id text, expected bigint, ${columns})`;
const insertTasks = `INSERT INTO tasks (id, ${names.join(', ')})
  SELECT id, ${names.join(', ')} FROM ${recordset} ORDER BY n
  ON CONFLICT (id) DO NOTHING RETURNING id`;
const updateTasks = `UPDATE tasks SET ${names.map((name) => `${name} = x.${name}`).join(', ')}
  FROM ${recordset} WHERE tasks.id = ANY($2::text[]) AND tasks.id = x.id AND tasks.revision = x.expected
  RETURNING tasks.id`;

/** Returns the statements that write the rows of tasks. */
function putTasks(writes: readonly WrittenTask[]): Statement[] {
  const rows = writes.map(({ change: { expected }, columns: row }, n) => ({ n, expected, ...row }));
  const added = rows.filter(({ expected }) => expected === 0);
  const changed = rows.filter(({ expected }) => expected > 0);
  const insert = { text: insertTasks, values: [parameterOf(added)] };
  const update = { text: updateTasks, values: [parameterOf(changed), changed.map(({ id }) => id)] };
  return [
    ...(added.length === 0 ? [] : [exactly(insert, added.length)]),
    ...(changed.length === 0 ? [] : [exactly(update, changed.length)]),
  ];
}

function jobsOf(writes: readonly TaskWrite[], before: ReadonlyMap<string, Before>): JobChanges {
  const begun: string[] = [];
  const ended: string[] = [];
  const deadlines: { id: string; at: number | null }[] = [];
  for (const { change } of writes) {
    const { id, state, wakeAt } = change.task;
    const was = before.get(id);
    const wasAtWork = was !== undefined && isAtWork(was.state);
    if (isAtWork(state) && (!wasAtWork || change.isClaimed === true)) begun.push(id);
    if (!isAtWork(state) && wasAtWork) ended.push(id);
    if (wakeAt !== (was?.deadline_at ?? null)) deadlines.push({ id, at: wakeAt });
  }
  return { begun, ended, deadlines };
}

function isAtWork(state: TaskState): boolean {
  return !isFinal(state) && state !== 'deferred';
}
