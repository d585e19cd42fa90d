import { NextLines } from '../store/next-lines.ts';
import {
  type Batch,
  type CommitSettings,
  exactly,
  type Ground,
  type Head,
  type Statement,
} from './commit-batch.ts';
import { DatabaseError } from './database-error.ts';
import { isCopyNow, unsettled } from './known-schema.ts';

/** Takes the place after the last commit, whose row others wait for until this one is on disk. */
const moveHead = `UPDATE audit_head SET events = $1, hash = $2, checkpointed = $3, changes = $4
  WHERE events = $5 AND hash = $6 AND changes = $7 AND to_regclass('tasks')::oid::bigint = $8
    AND ($9 OR NOT ${isCopyNow})
  RETURNING one`;

const append = `WITH
  lines AS (INSERT INTO audit_lines
    SELECT $1::bigint + n, line FROM unnest($2::text[]) WITH ORDINALITY AS x(line, n)),
  told AS (INSERT INTO task_changes SELECT x.change, $4, x.task_id, x.revision, x.waited
    FROM json_to_recordset($3::text::json)
      AS x(change bigint, task_id text, revision bigint, waited text)),
  me AS (UPDATE replicas SET commits = $5, refused = $6 WHERE id = $4)
  SELECT pg_notify($7, $4)`;

/** The statements that append a batch to the shared log. */
export interface Appended {
  /** The first statement of the commit. */
  first: Statement;
  last: Statement;
  /** The position after the commit. */
  head: Head;
}

/** Appends events to the shared log in commit order: the transaction that holds the head row is the next. */
export function appendLog(
  { writes, events, checkpointAt, number }: Batch,
  refused: readonly string[],
  { head: known, before }: Ground,
  settings: CommitSettings,
): Appended {
  const lines = new NextLines(
    { ...known, bytes: 0, first: 1, opened: '', keptFrom: 1, finishing: null },
    settings,
  );
  lines.add([...events, ...writes.flatMap((write) => write.events)]);
  if (checkpointAt !== null && lines.head.events > lines.head.checkpointed) {
    lines.checkpoint(checkpointAt);
  }
  const changes = writes.map(({ change: { task } }, index) => {
    const { deferral_id: waitedOn = null, waited = null } = before.get(task.id) ?? {};
    return {
      change: known.changes + index + 1,
      task_id: task.id,
      revision: task.revision,
      waited: waitedOn === task.deferral?.id ? null : waited,
    };
  });
  const { events: count, hash, checkpointed } = lines.head;
  const head = { events: count, hash, checkpointed, changes: known.changes + changes.length };
  const moved = [count, hash, checkpointed, head.changes, known.events, known.hash, known.changes];
  const { tables, acceptsCopy, replica, channel } = settings;
  return {
    head,
    first: exactly({ text: moveHead, values: [...moved, tables, acceptsCopy] }, 1),
    last: {
      text: append,
      values: [
        known.events,
        lines.texts(),
        JSON.stringify(changes),
        replica,
        number,
        JSON.stringify(refused),
        channel,
      ],
    },
  };
}

/** Locks and reads the position of the log, so that no other commit can precede this one. */
export const lockHead = `SELECT events, hash, checkpointed, changes, ${isCopyNow} AS "isCopy",
  to_regclass('tasks')::oid::bigint AS tables FROM audit_head FOR UPDATE`;

/** A row of `lockHead`. */
export type HeadRow = Head & { isCopy: boolean; tables: number };

/** Reads a row of `lockHead`. Throws DatabaseError over tables that were restored while this daemon runs. */
export function headOf({ isCopy, tables, ...head }: HeadRow, settings: CommitSettings): Head {
  if (isCopy && !settings.acceptsCopy) throw unsettled(settings.schema);
  if (tables === settings.tables) return head;
  throw new DatabaseError(
    `the tables of the schema ${settings.schema} were replaced while this daemon ran`,
    'restart it',
  );
}
