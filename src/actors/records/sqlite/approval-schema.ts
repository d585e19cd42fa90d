/**
 * SQL that inserts or updates a notice row for each target of the changed task, if it is parked. A task nested too deeply
 * for SQLite's JSON functions must still be saved; it then has no notices.
 */
const askings = `INSERT INTO approval_notices (task_id, deferral_id, adapter, target, asked)
    SELECT task_id, deferral_id, ${adapterOf('channel.value')}, channel.value, asked
    FROM (
      SELECT task_id, deferral_id,
        CASE stage WHEN 'escalated' THEN json_insert(targets, '$[#]', other) ELSE targets END AS channels,
        json_object('taskId', task_id, 'deferral', json_remove(deferral, '$.args'),
          'requester', json(requester), 'stage', stage) AS asked
      FROM (
        SELECT NEW.id AS task_id, NEW.deferral_id AS deferral_id, NEW.task -> '$.deferral' AS deferral,
          NEW.task -> '$.requester' AS requester, NEW.task ->> '$.stage' AS stage,
          NEW.task -> '$.deferral.targets' AS targets,
          NEW.task ->> '$.deferral.escalateTo' AS other
        WHERE json_valid(NEW.task)
      )
    ), json_each(channels) AS channel WHERE channel.value IS NOT NULL
    ON CONFLICT (deferral_id, target) DO UPDATE
      SET asked = excluded.asked, version = version + 1, due = NOT is_closed
      WHERE asked <> excluded.asked`;

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

/**
 * The table of approval notices, and the triggers that synchronise it with the tasks; a task that never waits costs
 * nothing. `due` is 1 while a message is outdated; `version` counts the changes of its content. A wait that ended
 * before any notice was sent needs no message.
 */
export const approvalSchema = `
  CREATE TABLE approval_notices (
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
  CREATE INDEX approval_notices_of_task ON approval_notices (task_id);
  CREATE INDEX approval_notices_next
    ON approval_notices (adapter, target, is_posted, ${deadline}, position) WHERE due = 1;
  CREATE TRIGGER approval_notices_of_new AFTER INSERT ON tasks
    WHEN NEW.deferral_id IS NOT NULL
    BEGIN ${askings}; END;
  CREATE TRIGGER approval_notices_of_ended AFTER UPDATE ON tasks
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
  CREATE TRIGGER approval_notices_of_changed AFTER UPDATE ON tasks
    WHEN NEW.deferral_id IS NOT NULL
    BEGIN ${askings}; END;
  CREATE TRIGGER approval_notices_of_deleted AFTER DELETE ON tasks
    BEGIN DELETE FROM approval_notices WHERE task_id = OLD.id; END;
`;
