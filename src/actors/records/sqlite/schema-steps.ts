/** Schema version 1. */
const first = `
  CREATE TABLE tasks (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    deadline_at INTEGER,
    deferral_id TEXT,
    machine_version INTEGER NOT NULL,
    audit_seq INTEGER NOT NULL,
    started_call TEXT,
    task TEXT NOT NULL,
    snapshot TEXT
  );
  CREATE INDEX tasks_by_state ON tasks (state);
  CREATE INDEX tasks_by_deadline ON tasks (deadline_at) WHERE deadline_at IS NOT NULL;
  CREATE INDEX tasks_by_deferral ON tasks (deferral_id) WHERE deferral_id IS NOT NULL;
  CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    bytes INTEGER NOT NULL,
    events INTEGER NOT NULL,
    hash TEXT NOT NULL,
    checkpointed INTEGER NOT NULL
  );
  CREATE TABLE audit_outbox (offset INTEGER PRIMARY KEY, lines BLOB NOT NULL);
`;

/** Migration from version 1: the log spans several files. */
const rotation = `
  ALTER TABLE audit_head ADD COLUMN first INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE audit_head ADD COLUMN opened TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit_head ADD COLUMN kept_from INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE audit_head ADD COLUMN finishing_first INTEGER;
  ALTER TABLE audit_head ADD COLUMN finishing_bytes INTEGER;
`;

/**
 * Migration from version 2: message contents move to a separate column, and every list filter gets an index in the
 * order of its list. A row that SQLite cannot parse remains whole.
 */
const lists = `
  ALTER TABLE tasks ADD COLUMN context_id TEXT NOT NULL DEFAULT '';
  ALTER TABLE tasks ADD COLUMN contents TEXT;
  UPDATE tasks SET context_id = coalesce(task ->> '$.contextId', ''),
    contents = json_object('history', task -> '$.history', 'answer', task -> '$.answer'),
    task = json_remove(task, '$.history', '$.answer')
    WHERE json_valid(task);
  CREATE INDEX tasks_by_change ON tasks (changed_at);
  CREATE INDEX tasks_by_state_change ON tasks (state, changed_at);
  CREATE INDEX tasks_by_context_change ON tasks (context_id, changed_at);
  CREATE INDEX tasks_by_context_state_change ON tasks (context_id, state, changed_at);
`;

/**
 * Migration from version 3: owner columns, so that lists can skip tasks outside the caller's scope without reading each
 * row. A row that SQLite cannot parse gets an owner that matches no caller.
 */
const owners = `
  ALTER TABLE tasks ADD COLUMN owner_org TEXT NOT NULL DEFAULT '';
  ALTER TABLE tasks ADD COLUMN owner TEXT NOT NULL DEFAULT '';
  ALTER TABLE tasks ADD COLUMN approvers TEXT;
  UPDATE tasks SET owner_org = ' ', owner = ' ' WHERE NOT json_valid(task);
  UPDATE tasks SET
    owner_org = coalesce(task ->> '$.requester.orgId', ''),
    owner = coalesce(task ->> '$.requester.provider' || char(10) || (task ->> '$.requester.userId'), ''),
    approvers = nullif(task -> '$.deferral.approvers', 'null')
    WHERE json_valid(task);
  DROP INDEX tasks_by_state;
  DROP INDEX tasks_by_change;
  DROP INDEX tasks_by_state_change;
  DROP INDEX tasks_by_context_change;
  DROP INDEX tasks_by_context_state_change;
  CREATE INDEX tasks_by_owner ON tasks (position, owner_org, owner);
  CREATE INDEX tasks_by_state ON tasks (state, position, owner_org, owner);
  CREATE INDEX tasks_by_change ON tasks (changed_at, position, owner_org, owner);
  CREATE INDEX tasks_by_state_change ON tasks (state, changed_at, position, owner_org, owner);
  CREATE INDEX tasks_by_context_change ON tasks (context_id, changed_at, position, owner_org, owner);
  CREATE INDEX tasks_by_context_state_change ON tasks (context_id, state, changed_at, position, owner_org, owner);
  CREATE TABLE task_approvers (
    email TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (email, position)
  ) WITHOUT ROWID;
  CREATE INDEX task_approvers_of_task ON task_approvers (position);
  INSERT OR IGNORE INTO task_approvers
    SELECT value, position FROM tasks, json_each(approvers) WHERE approvers IS NOT NULL;
  CREATE TRIGGER task_approvers_of_new AFTER INSERT ON tasks WHEN NEW.approvers IS NOT NULL
    BEGIN
      INSERT OR IGNORE INTO task_approvers SELECT value, NEW.position FROM json_each(NEW.approvers);
    END;
  CREATE TRIGGER task_approvers_of_changed AFTER UPDATE OF approvers ON tasks
    WHEN OLD.approvers IS NOT NEW.approvers
    BEGIN
      DELETE FROM task_approvers WHERE position = OLD.position;
      INSERT OR IGNORE INTO task_approvers SELECT value, NEW.position FROM json_each(NEW.approvers)
        WHERE NEW.approvers IS NOT NULL;
    END;
  CREATE TRIGGER task_approvers_of_deleted AFTER DELETE ON tasks WHEN OLD.approvers IS NOT NULL
    BEGIN DELETE FROM task_approvers WHERE position = OLD.position; END;
`;

/** Migration from version 4: the task of each message, so that a redelivery is recognised. */
const sentMessages = `
  CREATE TABLE sent_messages (key TEXT PRIMARY KEY, task_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX sent_messages_of_task ON sent_messages (task_id);
  CREATE TRIGGER sent_messages_of_deleted AFTER DELETE ON tasks
    BEGIN DELETE FROM sent_messages WHERE task_id = OLD.id; END;
`;

/** Migration from version 5: the chart states that each task has entered. */
const enteredStates = `
  CREATE TABLE task_states (
    task_id TEXT NOT NULL,
    first INTEGER NOT NULL,
    entered INTEGER NOT NULL,
    states TEXT NOT NULL,
    PRIMARY KEY (task_id, first)
  ) WITHOUT ROWID;
  CREATE TRIGGER task_states_of_deleted AFTER DELETE ON tasks
    BEGIN DELETE FROM task_states WHERE task_id = OLD.id; END;
`;

/** Migration from version 6: the deadline of each waiting task, and the callers of waiting calls. */
const waits = `
  ALTER TABLE tasks ADD COLUMN expires_at INTEGER;
  UPDATE tasks SET expires_at = coalesce(task ->> '$.deferral.expiresAt', deadline_at)
    WHERE state = 'deferred' AND json_valid(task);
  CREATE INDEX tasks_waiting_by_deadline ON tasks (expires_at, position, owner_org, owner)
    WHERE state = 'deferred';
  CREATE INDEX tasks_waiting_by_owner ON tasks (owner_org, owner) WHERE state = 'deferred';
`;

/**
 * Migration from version 7: the index of a context also holds the state, so a commit writes one index less.
 */
const contexts = `
  DROP INDEX tasks_by_context_change;
  DROP INDEX tasks_by_context_state_change;
  CREATE INDEX tasks_by_context_change
    ON tasks (context_id, changed_at, position, owner_org, owner, state);
`;

/** Migration from version 8: which releases can work with the store. */
const compatibility = `
  CREATE TABLE store_info (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    readable_from INTEGER NOT NULL
  );
  INSERT INTO store_info VALUES (1, 0);
`;

/** Migration from version 9: the state of each hold without a known end (src/actors/records/store/open-holds.ts). */
const openHolds = `
  ALTER TABLE tasks ADD COLUMN open_hold TEXT;
  UPDATE tasks SET open_hold = iif(state = 'deferred', 'waiting', task ->> '$.hold.account.state')
    WHERE instr(task, '"askedSha256":') > 0 AND CASE WHEN json_valid(task) THEN task -> '$.hold' IS NOT NULL
      AND (state = 'deferred' OR task ->> '$.hold.account.state' IN ('granted', 'released', 'unaccounted')) END;
  CREATE INDEX tasks_by_open_hold ON tasks (open_hold, state, deadline_at) WHERE open_hold IS NOT NULL;
`;

/** Migrations from each version of the store to the next; append only. */
export const schemaSteps: readonly string[] = [
  first,
  rotation,
  lists,
  owners,
  sentMessages,
  enteredStates,
  waits,
  contexts,
  compatibility,
  openHolds,
];

/**
 * The oldest version whose releases can work with the present tables, so that an upgrade can be undone. A step that
 * they cannot work with raises it to its own number.
 */
export const readableFrom = 9;
