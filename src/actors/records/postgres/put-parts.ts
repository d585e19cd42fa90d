import { askingsOf, endedOf } from '../store/approval-askings.ts';
import { mostStates, writeStates } from '../store/kept-states.ts';
import { approversOf } from '../store/task-owners.ts';
import type { rowOf } from '../store/task-row.ts';
import type { TaskWrite } from '../store/task-store.ts';
import { type Before, exactly, type Statement } from './commit-batch.ts';
import { parameterOf } from './parameter-of.ts';
import { addValues, dropValues } from './task-values.ts';

/** A written task with its row, and the writer of its shared values; `null` for a row without. */
export type WrittenTask = TaskWrite & ReturnType<typeof rowOf>;

/** Returns the statements that write the data of tasks outside their rows. */
export function putParts(
  writes: readonly WrittenTask[],
  before: ReadonlyMap<string, Before>,
): Statement[] {
  return [
    ...putMessages(sentOf(writes)),
    ...putStates(writes),
    ...putApprovers(writes, before),
    ...putAskings(writes, before),
    ...putValues(writes, before),
  ];
}

function putValues(
  writes: readonly WrittenTask[],
  before: ReadonlyMap<string, Before>,
): Statement[] {
  const rows = writes.flatMap(({ change, shared }) =>
    (shared?.values ?? []).map((value) => ({ ...value, task_id: change.task.id })),
  );
  const had = writes
    .map(({ change }) => change.task.id)
    .filter((id) => before.get(id)?.has_values === 1);
  return [...addValues(rows), ...dropValues(had, rows)];
}

function putMessages(sent: ReturnType<typeof sentOf>): Statement[] {
  if (sent.length === 0) return [];
  const text = `INSERT INTO sent_messages (key, task_id)
      SELECT x.key, x."taskId" FROM json_to_recordset($1::text::json) AS x(key text, "taskId" text)
      ON CONFLICT (key) DO UPDATE SET task_id = excluded.task_id
        WHERE (sent_messages.key, sent_messages.task_id) IN (
          SELECT y.key, y.supersedes FROM json_to_recordset($1::text::json) AS y(key text, supersedes text))
      RETURNING key`;
  return [exactly({ text, values: [parameterOf(sent)] }, sent.length)];
}

function putStates(writes: readonly WrittenTask[]): Statement[] {
  const added = writes.flatMap(({ change: { entered = [], task } }) =>
    entered.length === 0
      ? []
      : [{ id: task.id, entered: entered.length, states: writeStates(entered) }],
  );
  if (added.length === 0) return [];
  const text = `WITH added AS (INSERT INTO task_states (task_id, first, entered, states)
      SELECT x.id, coalesce((SELECT max(s.first + s.entered) FROM task_states s WHERE s.task_id = x.id), 1),
        x.entered, x.states
      FROM json_to_recordset($1::text::json) AS x(id text, entered integer, states text)
      RETURNING task_id, first + entered - 1 AS last)
    DELETE FROM task_states AS s
      WHERE s.task_id = ANY(ARRAY(SELECT task_id FROM added WHERE last > ${mostStates})) AND s.first > 1
        AND s.first + s.entered <= (SELECT last FROM added WHERE task_id = s.task_id) - ${mostStates - 2}`;
  return [{ text, values: [parameterOf(added)] }];
}

function putApprovers(
  writes: readonly WrittenTask[],
  before: ReadonlyMap<string, Before>,
): Statement[] {
  const changed = writes
    .map(({ change: { task } }) => ({ id: task.id, approvers: approversOf(task) }))
    .filter(({ id, approvers }) => approvers !== (before.get(id)?.approvers ?? null));
  if (changed.length === 0) return [];
  const rows = changed.flatMap(({ id, approvers }) =>
    (approvers === null ? [] : (JSON.parse(approvers) as string[])).map((email) => ({ email, id })),
  );
  const removed = changed.map(({ id }) => id).filter((id) => before.has(id));
  const remove = 'DELETE FROM task_approvers WHERE task_id = ANY($1::text[])';
  const add = `INSERT INTO task_approvers SELECT x.email, x.id
    FROM json_to_recordset($1::text::json) AS x(email text, id text) ON CONFLICT DO NOTHING`;
  return [
    ...(removed.length === 0 ? [] : [{ text: remove, values: [removed] }]),
    ...(rows.length === 0 ? [] : [{ text: add, values: [parameterOf(rows)] }]),
  ];
}

function putAskings(
  writes: readonly WrittenTask[],
  before: ReadonlyMap<string, Before>,
): Statement[] {
  const ended = writes.flatMap(({ change: { task } }) => {
    const waited = before.get(task.id)?.deferral_id ?? null;
    return waited === null || waited === task.deferral?.id
      ? []
      : [{ waited, ended: endedOf(task) }];
  });
  const end = `UPDATE approval_notices AS n SET version = n.version + 1, due = n.is_posted,
    is_closed = NOT n.is_posted, ended = x.ended
    FROM json_to_recordset($1::text::json) AS x(waited text, ended text)
    WHERE n.deferral_id = ANY($2::text[]) AND n.deferral_id = x.waited AND n.ended IS NULL`;
  const ids = ended.map(({ waited }) => waited);
  const askings = writes.flatMap(({ change, shared }) => askingsOf(change.task, shared));
  const ask = `INSERT INTO approval_notices (task_id, deferral_id, adapter, target, asked, requested_at, expires_at)
    SELECT task_id, deferral_id, adapter, target, asked, requested_at, expires_at
    FROM json_to_recordset($1::text::json) AS x(task_id text, deferral_id text, adapter text,
      target text, asked text, requested_at bigint, expires_at bigint)
    ON CONFLICT (deferral_id, target) DO UPDATE SET asked = excluded.asked,
      expires_at = excluded.expires_at, version = approval_notices.version + 1,
      due = NOT approval_notices.is_closed
      WHERE approval_notices.asked <> excluded.asked`;
  return [
    ...(ended.length === 0 ? [] : [{ text: end, values: [parameterOf(ended), ids] }]),
    ...addOutcomes(writes),
    ...(askings.length === 0 ? [] : [{ text: ask, values: [parameterOf(askings)] }]),
  ];
}

/** The record of an end is text, so the outcome becomes its last member. */
function addOutcomes(writes: readonly WrittenTask[]): Statement[] {
  const known = writes.flatMap(({ change: { outcomes = [] } }) =>
    outcomes.map(({ id, outcome }) => ({ id, outcome: JSON.stringify(outcome) })),
  );
  if (known.length === 0) return [];
  const text = `UPDATE approval_notices AS n SET version = n.version + 1, due = n.is_posted,
      is_closed = NOT n.is_posted,
      ended = left(n.ended, length(n.ended) - 1) || ',"outcome":' || x.outcome || '}'
      FROM json_to_recordset($1::text::json) AS x(id text, outcome text)
      WHERE n.deferral_id = ANY($2::text[]) AND n.deferral_id = x.id AND n.ended IS NOT NULL`;
  return [{ text, values: [parameterOf(known), known.map(({ id }) => id)] }];
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
