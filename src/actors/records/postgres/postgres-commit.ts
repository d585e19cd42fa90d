import type { PoolClient } from 'pg';
import { isFinal, type TaskState } from '../../../machines/domain/task.ts';
import { briefColumns, rowOf } from '../store/task-row.ts';
import type { TaskWrite } from '../store/task-store.ts';
import { appendLog } from './append-log.ts';
import type { Batch, Before, CommitPorts } from './commit-batch.ts';
import type { JobWriter } from './job-writer.ts';
import { parameterOf } from './parameter-of.ts';
import { putParts, type WrittenTask } from './put-parts.ts';
import { valuesSql } from './task-values.ts';

/**
 * Writes a batch inside an open transaction; returns the ids of the tasks refused because of an earlier concurrent
 * change.
 */
export async function writeCommit(
  client: PoolClient,
  batch: Batch,
  ports: CommitPorts,
): Promise<string[]> {
  const all = batch.writes.map(({ change }) => change.task.id);
  const { rows } = all.length === 0 ? { rows: [] } : await client.query<Before>(lockTasks, [all]);
  const before = new Map(rows.map((row) => [row.id, row]));
  const current = batch.writes.filter(
    ({ change }) => change.expected === (before.get(change.task.id)?.revision ?? 0),
  );
  const taken = await takenMessages(client, current);
  const writes = await put(
    client,
    current.filter(({ change }) => !taken.has(change.task.id)),
    before,
  );
  await putParts(client, writes, before);
  await putJobs(client, writes, before, ports.jobs);
  const written = new Set(writes.map(({ change }) => change.task.id));
  const refused = all.filter((id) => !written.has(id));
  await appendLog(client, { ...batch, writes }, { refused, before, ports });
  return refused;
}

const lockTasks = `SELECT ${briefColumns(valuesSql)}, deadline_at, deferral_id, approvers,
    has_values
  FROM tasks WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`;

/**
 * Returns the tasks with a message that already belongs to another task, including by an earlier write of the batch.
 */
async function takenMessages(
  client: PoolClient,
  writes: readonly TaskWrite[],
): Promise<Set<string>> {
  const keys = writes.flatMap(({ change: { sent = [] } }) => sent.map(({ key }) => key));
  if (keys.length === 0) return new Set();
  const { rows } = await client.query<{ key: string; task_id: string }>(
    'SELECT key, task_id FROM sent_messages WHERE key = ANY($1::text[])',
    [keys],
  );
  const ledTo = new Map(rows.map(({ key, task_id }) => [key, task_id]));
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
const rowsOf = `json_to_recordset($1::text::json) AS x(n integer, id text, expected bigint, ${columns})`;
const insertTasks = `INSERT INTO tasks (id, ${names.join(', ')})
  SELECT id, ${names.join(', ')} FROM ${rowsOf} WHERE expected = 0 ORDER BY n
  ON CONFLICT (id) DO NOTHING RETURNING id`;
const updateTasks = `UPDATE tasks SET ${names.map((name) => `${name} = x.${name}`).join(', ')}
  FROM ${rowsOf} WHERE tasks.id = x.id AND tasks.revision = x.expected AND x.expected > 0
  RETURNING tasks.id`;

/** Writes the rows of tasks; returns the writes without a conflict. */
async function put(
  client: PoolClient,
  writes: readonly TaskWrite[],
  before: ReadonlyMap<string, Before>,
): Promise<WrittenTask[]> {
  const written = writes.map((write) => ({ ...write, ...rowOf(write.change) }));
  const rows = written.map(({ change, columns: row }, n) => ({
    n,
    expected: change.expected,
    ...row,
  }));
  const done = new Set<string>();
  const isNew = ({ expected }: { expected: number }): boolean => expected === 0;
  for (const [sql, some] of [
    [insertTasks, rows.filter(isNew)],
    [updateTasks, rows.filter((row) => !isNew(row) && before.has(row.id))],
  ] as const) {
    if (some.length === 0) continue;
    const result = await client.query<{ id: string }>(sql, [parameterOf(some)]);
    for (const { id } of result.rows) done.add(id);
  }
  return written.filter(({ change }) => done.has(change.task.id));
}

async function putJobs(
  client: PoolClient,
  writes: readonly TaskWrite[],
  before: ReadonlyMap<string, Before>,
  jobs: JobWriter,
): Promise<void> {
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
  if (begun.length + ended.length + deadlines.length === 0) return;
  const executeSql = (text: string, values?: unknown[]) => client.query(text, values);
  await jobs.write({ executeSql }, { begun, ended, deadlines });
}

function isAtWork(state: TaskState): boolean {
  return !isFinal(state) && state !== 'deferred';
}
