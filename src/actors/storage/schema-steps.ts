/** The first tables. */
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

/** What a store of version 1 lacks: the log is kept in several files. */
const rotation = `
  ALTER TABLE audit_head ADD COLUMN first INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE audit_head ADD COLUMN opened TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit_head ADD COLUMN kept_from INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE audit_head ADD COLUMN finishing_first INTEGER;
  ALTER TABLE audit_head ADD COLUMN finishing_bytes INTEGER;
`;

/**
 * What a store of version 2 lacks: what was said stands apart from what a list shows, and every filter of a
 * list has an index in the order of that list. A row that SQLite cannot read stays whole.
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

/** What leads from each version of the store to the next one; only ever added to. */
export const schemaSteps: readonly string[] = [first, rotation, lists];
