import type { PoolClient } from 'pg';
import type { Task } from '../../../machines/domain/task.ts';
import { NextLines } from '../store/next-lines.ts';
import { taskOf } from '../store/task-row.ts';
import { waitedIn } from '../store/waited-in.ts';
import type { Batch, Before, CommitPorts } from './commit-batch.ts';
import { DatabaseError } from './database-error.ts';
import { isCopyNow, unsettled } from './known-schema.ts';

interface Appended {
  refused: readonly string[];
  before: ReadonlyMap<string, Before>;
  ports: CommitPorts;
}

const append = `WITH
  head AS (UPDATE audit_head SET events = $1, hash = $2, checkpointed = $3, changes = $4),
  lines AS (INSERT INTO audit_lines
    SELECT $5::bigint + n, line FROM unnest($6::text[]) WITH ORDINALITY AS x(line, n)),
  told AS (INSERT INTO task_changes SELECT x.change, $8, x.task_id, x.revision, x.waited
    FROM json_to_recordset($7::text::json)
      AS x(change bigint, task_id text, revision bigint, waited text)),
  me AS (UPDATE replicas SET commits = $9, refused = $10 WHERE id = $8)
  SELECT pg_notify($11, $8)`;

/**
 * Appends events to the shared log in commit order: the transaction that holds the head row is the next. Throws
 * DatabaseError over tables that were restored while this daemon runs.
 */
export async function appendLog(
  client: PoolClient,
  { writes, events, checkpointAt, number }: Batch,
  { refused, before, ports }: Appended,
): Promise<void> {
  const { rows } = await client.query<Head>(
    `SELECT events, hash, checkpointed, changes, ${isCopyNow} AS "isCopy",
      to_regclass('tasks')::oid::bigint AS tables FROM audit_head FOR UPDATE`,
  );
  const known = rows[0] as Head;
  if (known.isCopy && !ports.acceptsCopy) throw unsettled(ports.schema);
  if (known.tables !== ports.tables) {
    throw new DatabaseError(
      `the tables of the schema ${ports.schema} were replaced while this daemon ran`,
      'restart it',
    );
  }
  const lines = new NextLines(
    { ...known, bytes: 0, first: 1, opened: '', keptFrom: 1, finishing: null },
    ports,
  );
  lines.add([...events, ...writes.flatMap((write) => write.events)]);
  if (checkpointAt !== null && lines.head.events > lines.head.checkpointed) {
    lines.checkpoint(checkpointAt);
  }
  const changes = writes.map(({ change: { task } }, index) => ({
    change: known.changes + index + 1,
    task_id: task.id,
    revision: task.revision,
    waited: waitedText(before.get(task.id), task),
  }));
  await client.query(append, [
    lines.head.events,
    lines.head.hash,
    lines.head.checkpointed,
    known.changes + changes.length,
    known.events,
    lines.texts(),
    JSON.stringify(changes),
    ports.replica,
    number,
    JSON.stringify(refused),
    ports.channel,
  ]);
}

interface Head {
  events: number;
  hash: string;
  checkpointed: number;
  changes: number;
  isCopy: boolean;
  tables: number;
}

function waitedText(before: Before | undefined, task: Task): string | null {
  if (before === undefined || before.deferral_id === null) return null;
  const waited = waitedIn(taskOf({ ...before }), task);
  return waited === null ? null : JSON.stringify(waited);
}
