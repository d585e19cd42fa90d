/** JSON path of a held call's targets; tasks parked by an older version have a single target in `to`. */
const targetsPath = '$.deferral.targets';

/**
 * SQL that inserts or updates a notice row for each target of a parked task. `from` is a table of tasks, or the
 * selection of a trigger's new row; `filter` restricts it.
 */
export function askings(from: string, filter = ''): string {
  // A task nested too deeply for SQLite's JSON functions must still be saved; it then has no notices.
  return `INSERT INTO approval_notices (task_id, deferral_id, adapter, target, asked)
    SELECT task_id, deferral_id, ${adapterOf('channel.value')}, channel.value, asked
    FROM (
      SELECT task_id, deferral_id,
        CASE stage WHEN 'escalated' THEN json_insert(targets, '$[#]', other) ELSE targets END AS channels,
        json_object('taskId', task_id, 'deferral', json_remove(deferral, '$.args'),
          'requester', json(requester), 'stage', stage) AS asked
      FROM (
        SELECT id AS task_id, deferral_id, task -> '$.deferral' AS deferral,
          task -> '$.requester' AS requester, task ->> '$.stage' AS stage,
          coalesce(task -> '${targetsPath}', json_array(task ->> '$.deferral.to')) AS targets,
          task ->> '$.deferral.escalateTo' AS other
        FROM ${from} WHERE deferral_id IS NOT NULL AND json_valid(task) ${filter}
      )
    ), json_each(channels) AS channel WHERE channel.value IS NOT NULL
    ON CONFLICT (deferral_id, target) DO UPDATE
      SET asked = excluded.asked, version = version + 1, due = NOT is_closed
      WHERE asked <> excluded.asked`;
}

/**
 * SQL expression of the time at which a held call is denied automatically; the index of due notices uses this order.
 */
export const deadline = "asked ->> '$.deferral.expiresAt'";

/**
 * Returns SQL for the adapter of `channel:<adapter>:<target>`; everything after the first colon if there is no second.
 */
function adapterOf(channel: string): string {
  const rest = `substr(${channel}, instr(${channel}, ':') + 1)`;
  return `substr(${rest}, 1, instr(${rest} || ':', ':') - 1)`;
}

const changed = `(SELECT NEW.id AS id, NEW.deferral_id AS deferral_id, NEW.task AS task)`;

/**
 * The table of approval notices, and the triggers that synchronise it with the tasks; a task that never waits costs
 * nothing. `due` is 1 while a message is outdated; `version` counts the changes of its content. A wait that ended
 * before any notice was sent needs no message.
 */
export const approvalSchema = `
  CREATE TABLE IF NOT EXISTS approval_notices (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL,
    deferral_id TEXT NOT NULL,
    adapter TEXT NOT NULL,
    target TEXT NOT NULL,
    asked TEXT NOT NULL,
    ended TEXT,
    version INTEGER NOT NULL DEFAULT 1,
    ref TEXT,
    told TEXT,
    is_posted INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL DEFAULT 1,
    is_closed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (deferral_id, target)
  );
  CREATE INDEX IF NOT EXISTS approval_notices_of_task ON approval_notices (task_id);
  DROP INDEX IF EXISTS approval_notices_due;
  CREATE INDEX IF NOT EXISTS approval_notices_next
    ON approval_notices (adapter, target, is_posted, ${deadline}, position) WHERE due = 1;
  CREATE TRIGGER IF NOT EXISTS approval_notices_of_new AFTER INSERT ON tasks
    WHEN NEW.deferral_id IS NOT NULL
    BEGIN ${askings(changed)}; END;
  CREATE TRIGGER IF NOT EXISTS approval_notices_of_ended AFTER UPDATE ON tasks
    WHEN OLD.deferral_id IS NOT NULL AND OLD.deferral_id IS NOT NEW.deferral_id
    BEGIN
      UPDATE approval_notices SET version = version + 1, due = is_posted, is_closed = NOT is_posted,
        ended = CASE WHEN json_valid(NEW.task) THEN json_object(
          'state', NEW.task -> '$.state', 'text', NEW.task -> '$.text',
          'changedAt', NEW.task -> '$.changedAt', 'settled', NEW.task -> '$.settled',
          'failure', NEW.task -> '$.failure'
        ) ELSE json_object('state', NEW.state, 'text', NULL, 'changedAt', NEW.changed_at,
          'settled', NULL, 'failure', NULL) END
      WHERE deferral_id = OLD.deferral_id AND ended IS NULL;
    END;
  CREATE TRIGGER IF NOT EXISTS approval_notices_of_changed AFTER UPDATE ON tasks
    WHEN NEW.deferral_id IS NOT NULL
    BEGIN ${askings(changed)}; END;
  CREATE TRIGGER IF NOT EXISTS approval_notices_of_deleted AFTER DELETE ON tasks
    BEGIN DELETE FROM approval_notices WHERE task_id = OLD.id; END;
`;

/** Returns whether the triggers of a store, given as SQL, create notices for every target of a held call. */
export function asksEveryTarget(trigger: string): boolean {
  return trigger.includes(targetsPath);
}

/** Drops the triggers of an older version, so that `approvalSchema` recreates them. */
export const dropTriggers = ['new', 'ended', 'changed', 'deleted']
  .map((name) => `DROP TRIGGER IF EXISTS approval_notices_of_${name};`)
  .join('\n');
