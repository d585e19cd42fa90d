import type { PoolClient } from 'pg';
import { askingsOf, endedOf } from '../store/approval-askings.ts';
import { mostStates, writeStates } from '../store/kept-states.ts';
import type { SharedValues } from '../store/shared-values.ts';
import { approversOf } from '../store/task-owners.ts';
import type { TaskWrite } from '../store/task-store.ts';
import type { Before } from './commit-batch.ts';
import { parameterOf } from './parameter-of.ts';
import { addValues, dropValues } from './task-values.ts';

/** A message was assigned to another task by a commit that was not visible when this one started. */
class OvertakenError extends Error {
  /** SQLSTATE of a transaction that should be retried. */
  readonly code = '40001';
}

/** A written task, and the writer of its shared values; `null` for a row without. */
export type WrittenTask = TaskWrite & { shared: SharedValues | null };

/** Writes the data of tasks outside their rows. */
export async function putParts(
  client: PoolClient,
  writes: readonly WrittenTask[],
  before: ReadonlyMap<string, Before>,
): Promise<void> {
  await putMessages(client, sentOf(writes));
  await putStates(client, writes);
  await putApprovers(client, writes, before);
  await putAskings(client, writes, before);
  await putValues(client, writes, before);
}

async function putValues(
  client: PoolClient,
  writes: readonly WrittenTask[],
  before: ReadonlyMap<string, Before>,
): Promise<void> {
  const query = (sql: string, values: unknown[]) => client.query(sql, values);
  const rows = writes.flatMap(({ change, shared }) =>
    (shared?.values ?? []).map((value) => ({ ...value, task_id: change.task.id })),
  );
  await addValues(query, rows);
  const had = writes
    .map(({ change }) => change.task.id)
    .filter((id) => before.get(id)?.has_values === 1);
  await dropValues(query, had, rows);
}

async function putMessages(client: PoolClient, sent: ReturnType<typeof sentOf>): Promise<void> {
  if (sent.length === 0) return;
  const { rowCount } = await client.query(
    `INSERT INTO sent_messages (key, task_id)
      SELECT x.key, x."taskId" FROM json_to_recordset($1::text::json) AS x(key text, "taskId" text)
      ON CONFLICT (key) DO UPDATE SET task_id = excluded.task_id
        WHERE (sent_messages.key, sent_messages.task_id) IN (
          SELECT y.key, y.supersedes FROM json_to_recordset($1::text::json) AS y(key text, supersedes text))`,
    [parameterOf(sent)],
  );
  if (rowCount !== sent.length) throw new OvertakenError('a message led elsewhere meanwhile');
}

async function putStates(client: PoolClient, writes: readonly TaskWrite[]): Promise<void> {
  const added = writes.flatMap(({ change: { entered = [], task } }) =>
    entered.length === 0
      ? []
      : [{ id: task.id, entered: entered.length, states: writeStates(entered) }],
  );
  if (added.length === 0) return;
  const { rows } = await client.query<{ task_id: string; first: number; entered: number }>(
    `INSERT INTO task_states (task_id, first, entered, states)
      SELECT x.id, coalesce((SELECT max(s.first + s.entered) FROM task_states s WHERE s.task_id = x.id), 1),
        x.entered, x.states
      FROM json_to_recordset($1::text::json) AS x(id text, entered integer, states text)
      RETURNING task_id, first, entered`,
    [parameterOf(added)],
  );
  for (const { task_id, first, entered } of rows) {
    const last = first + entered - 1;
    if (last <= mostStates) continue;
    await client.query(
      'DELETE FROM task_states WHERE task_id = $1 AND first > 1 AND first + entered - 1 <= $2',
      [task_id, last - mostStates + 1],
    );
  }
}

async function putApprovers(
  client: PoolClient,
  writes: readonly TaskWrite[],
  before: ReadonlyMap<string, Before>,
): Promise<void> {
  const changed = writes
    .map(({ change: { task } }) => ({ id: task.id, approvers: approversOf(task) }))
    .filter(({ id, approvers }) => approvers !== (before.get(id)?.approvers ?? null));
  if (changed.length === 0) return;
  await client.query('DELETE FROM task_approvers WHERE task_id = ANY($1::text[])', [
    changed.map(({ id }) => id),
  ]);
  const rows = changed.flatMap(({ id, approvers }) =>
    (approvers === null ? [] : (JSON.parse(approvers) as string[])).map((email) => ({ email, id })),
  );
  if (rows.length === 0) return;
  await client.query(
    `INSERT INTO task_approvers SELECT x.email, x.id
      FROM json_to_recordset($1::text::json) AS x(email text, id text) ON CONFLICT DO NOTHING`,
    [parameterOf(rows)],
  );
}

async function putAskings(
  client: PoolClient,
  writes: readonly WrittenTask[],
  before: ReadonlyMap<string, Before>,
): Promise<void> {
  const tasks = writes.map(({ change }) => change.task);
  const ended = tasks.flatMap((task) => {
    const waited = before.get(task.id)?.deferral_id ?? null;
    return waited === null || waited === task.deferral?.id
      ? []
      : [{ waited, ended: endedOf(task) }];
  });
  if (ended.length > 0) {
    await client.query(
      `UPDATE approval_notices AS n SET version = n.version + 1, due = n.is_posted,
        is_closed = NOT n.is_posted, ended = x.ended
        FROM json_to_recordset($1::text::json) AS x(waited text, ended text)
        WHERE n.deferral_id = ANY($2::text[]) AND n.deferral_id = x.waited AND n.ended IS NULL`,
      [parameterOf(ended), ended.map(({ waited }) => waited)],
    );
  }
  await addOutcomes(client, writes);
  const askings = writes.flatMap(({ change, shared }) => askingsOf(change.task, shared));
  if (askings.length === 0) return;
  await client.query(
    `INSERT INTO approval_notices (task_id, deferral_id, adapter, target, asked, requested_at, expires_at)
      SELECT task_id, deferral_id, adapter, target, asked, requested_at, expires_at
      FROM json_to_recordset($1::text::json) AS x(task_id text, deferral_id text, adapter text,
        target text, asked text, requested_at bigint, expires_at bigint)
      ON CONFLICT (deferral_id, target) DO UPDATE SET asked = excluded.asked,
        expires_at = excluded.expires_at, version = approval_notices.version + 1,
        due = NOT approval_notices.is_closed
        WHERE approval_notices.asked <> excluded.asked`,
    [parameterOf(askings)],
  );
}

/** The record of an end is text, so the outcome becomes its last member. */
async function addOutcomes(client: PoolClient, writes: readonly TaskWrite[]): Promise<void> {
  const known = writes.flatMap(({ change: { outcomes = [] } }) =>
    outcomes.map(({ id, outcome }) => ({ id, outcome: JSON.stringify(outcome) })),
  );
  if (known.length === 0) return;
  await client.query(
    `UPDATE approval_notices AS n SET version = n.version + 1, due = n.is_posted,
      is_closed = NOT n.is_posted,
      ended = left(n.ended, length(n.ended) - 1) || ',"outcome":' || x.outcome || '}'
      FROM json_to_recordset($1::text::json) AS x(id text, outcome text)
      WHERE n.deferral_id = ANY($2::text[]) AND n.deferral_id = x.id AND n.ended IS NOT NULL`,
    [parameterOf(known), known.map(({ id }) => id)],
  );
}

/**
 * Returns the messages of writes, each once: several writes of one message are merged into the last, relative to the
 * state before the first.
 */
function sentOf(writes: readonly TaskWrite[]) {
  const sent = new Map<string, { key: string; supersedes: string | null; taskId: string }>();
  for (const { change } of writes) {
    for (const { key, supersedes } of change.sent ?? []) {
      const taskId = change.task.id;
      sent.set(key, { key, supersedes: sent.get(key)?.supersedes ?? supersedes, taskId });
    }
  }
  return [...sent.values()];
}
