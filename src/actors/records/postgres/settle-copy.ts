import { restoredWhileRunning } from '../../../machines/task/failure-of.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Delegation } from '../../ports/delegations.ts';
import type { AgentEntity } from '../log/agent-entity.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import type { RestoredStore } from '../store/audit-opening.ts';
import { endOfTask, taskInStore } from '../store/end-of-task.ts';
import { isHoldDue, restoredHold } from '../store/hold-write.ts';
import { delegationEnded, restoredEvent, withWarning } from '../store/restored-events.ts';
import { StoreError } from '../store/store-error.ts';
import type { StoredTask } from '../store/task-rows.ts';
import type { TaskWrite } from '../store/task-store.ts';
import { databaseError } from './database-error.ts';
import { tablesIdentity } from './known-schema.ts';
import { groupOf, living } from './living-replicas.ts';
import { openSharedStore, type SharedStore } from './open-shared-store.ts';
import type { PostgresStore, PostgresStoreOptions } from './postgres-store.ts';

export interface SettleOptions extends Omit<PostgresStoreOptions, 'acceptsCopy' | 'folder'> {
  entity: AgentEntity;
  clock: Clock;
  /** True if no daemon ran since the tables were copied, so that nothing has to end. */
  isMoved: boolean;
}

/** Tasks that are read and saved together. */
const together = 100;

/**
 * Settles the tables of an agent that were restored to an earlier time, while no daemon uses them: running tasks end,
 * since their next call may have run; waiting calls warn their approvers; an approved call of another program is
 * released no more; approvals count for no later call; delegations and receivers of push notifications are deleted; and
 * everyone signs in again. May run again after a failure. Returns what changed; `null` for moved tables. Rejects with
 * StoreError.
 */
export async function settleCopy(options: SettleOptions): Promise<RestoredStore | null> {
  const { store, engine } = await openSharedStore({ ...options, acceptsCopy: true });
  try {
    await checkUnused(store, options.schema);
    const restored = options.isMoved ? null : await settle(store, options);
    await writeDeadlines(store, engine);
    await store.database.query(`UPDATE store_info SET tables = ${tablesIdentity}`);
    return restored;
  } catch (error) {
    throw databaseError(error, options);
  } finally {
    await engine.stop();
    await store.close();
  }
}

async function checkUnused(store: PostgresStore, schema: string): Promise<void> {
  const sql = `SELECT count(*) AS daemons FROM (${living(groupOf)}) AS living WHERE objid <> $2`;
  const [row] = await store.database.query<{ daemons: number }>(sql, [schema, store.number]);
  if (row?.daemons === 0) return;
  throw new StoreError(
    `daemons use the schema ${schema}; stop all of them, then settle the restored tables`,
  );
}

async function settle(
  store: PostgresStore,
  { entity, clock }: Pick<SettleOptions, 'entity' | 'clock'>,
): Promise<RestoredStore> {
  const at = store.clock(clock).now();
  const backupAt = (await timeOfLastLine(store)) ?? at;
  // No release may continue a call that may have run, so the version of the chart does not matter.
  const ended = await changeEach(store, running, (stored) => {
    const task = taskInStore(stored);
    task.envelope = { ...entity, ...task.envelope };
    return endOfTask(task, stored, { at, failure: restoredWhileRunning });
  });
  const waiting = await changeEach(store, `state = 'deferred'`, (stored) => {
    const warned = withWarning(stored, backupAt);
    return warned === null ? null : { change: warned, events: [] };
  });
  const holds = await changeEach(store, isHoldDue, (stored) =>
    restoredHold(stored, { envelope: entity, at }),
  );
  const { events: endings, ...rights } = await endRights(store, at);
  const restored = { backupAt, ended, waiting, holds, ...rights };
  const events = [restoredEvent(restored, at), ...endings];
  await store.record(events.map((event) => ({ ...entity, ...event })));
  return restored;
}

/** The jobs may not be those of the tables, such as those of a dump of one schema alone. */
async function writeDeadlines(
  { database }: PostgresStore,
  engine: SharedStore['engine'],
): Promise<void> {
  const deadlines = await database.query<{ id: string; at: number }>(
    'SELECT id, deadline_at AS at FROM tasks WHERE deadline_at IS NOT NULL ORDER BY position',
  );
  for (let start = 0; start < deadlines.length; start += together) {
    const some = deadlines.slice(start, start + together);
    const changes = { begun: [], ended: [], deadlines: some };
    await database.pipelined([], () => engine.statements(changes, true));
  }
}

/** The last line shows how far the tables reach. */
async function timeOfLastLine(store: PostgresStore): Promise<number | null> {
  const line = await store.lineAt(await store.lastLine());
  const event = line === undefined ? null : recordedEvent(Buffer.from(line));
  return event === null ? null : Date.parse(event.ts);
}

/** SQL condition for running tasks. */
const running = `state IN ('submitted', 'working')`;

/** Changes the tasks that fulfil an SQL condition; returns how many were changed. */
async function changeEach(
  store: PostgresStore,
  condition: string,
  writeOf: (stored: StoredTask) => TaskWrite | null,
): Promise<number> {
  const sql = `SELECT id FROM tasks WHERE ${condition} ORDER BY position`;
  const ids = (await store.database.query<{ id: string }>(sql)).map(({ id }) => id);
  let changed = 0;
  for (let start = 0; start < ids.length; start += together) {
    await Promise.all(
      ids.slice(start, start + together).map(async (id) => {
        const stored = await store.rows.read(id);
        const write = stored === undefined ? null : writeOf(stored);
        if (write === null) return;
        await store.save(id, () => write);
        changed += 1;
      }),
    );
  }
  return changed;
}

/** Calls that ran since the copy are missing, so a limit counts as exceeded until a period begins later. */
const noteRestored = `WITH earlier AS (DELETE FROM ledger WHERE kind = 'restored')
  INSERT INTO ledger (kind, name, key, call_id, task_id, tool, args_sha256, requester, amount, at, state)
  VALUES ('restored', '', '', gen_random_uuid()::text, '', '', '', 'null', '', $1, 'settled')`;

/** Ends what people and callers may have withdrawn since the copy: rights, and receivers of push notifications. */
async function endRights(
  { database }: PostgresStore,
  at: number,
): Promise<Pick<RestoredStore, 'grants' | 'pushTargets'> & { events: AuditEvent[] }> {
  const pushTargets = await database.query('DELETE FROM push_targets RETURNING id');
  const grants = await database.query('UPDATE grants SET is_suspended = 1 RETURNING id');
  await database.query('DELETE FROM web_sessions');
  await database.query(noteRestored, [at]);
  const ended = await database.query<Delegation>(
    `DELETE FROM delegations RETURNING id, giver AS "from", taker AS "to", until::float8 AS until`,
  );
  const events = ended
    .filter(({ until }) => until > at)
    .map((delegation) => delegationEnded(delegation, at));
  return { grants: grants.length, pushTargets: pushTargets.length, events };
}
