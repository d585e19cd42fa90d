/** The `application_id` of a store's file. */
export const applicationId = 0x486f6c70;

/** The ids of builds before the first version. */
export const earlierIds: readonly number[] = [0, 0x486f6c64];

/** The tables that the sessions of a page need, also in a file without an agent. */
export const pageTables = `
  CREATE TABLE agent_keys (
    purpose TEXT PRIMARY KEY,
    key TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE web_sessions (
    id TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL,
    session TEXT NOT NULL
  ) WITHOUT ROWID;
`;

/** Version 1. Each filter of a list has an index in the order of its list, with the columns that say whose a task is. */
const baseline = `
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
    snapshot TEXT,
    context_id TEXT NOT NULL DEFAULT '',
    contents TEXT,
    owner_org TEXT NOT NULL DEFAULT '',
    owner TEXT NOT NULL DEFAULT '',
    approvers TEXT,
    expires_at INTEGER,
    open_hold TEXT,
    has_values INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE task_values (
    task_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    value TEXT NOT NULL,
    is_asked INTEGER NOT NULL,
    PRIMARY KEY (task_id, digest)
  );
  CREATE INDEX tasks_by_deadline ON tasks (deadline_at) WHERE deadline_at IS NOT NULL;
  CREATE INDEX tasks_by_deferral ON tasks (deferral_id) WHERE deferral_id IS NOT NULL;
  CREATE INDEX tasks_by_owner ON tasks (position, owner_org, owner);
  CREATE INDEX tasks_by_state ON tasks (state, position, owner_org, owner);
  CREATE INDEX tasks_by_change ON tasks (changed_at, position, owner_org, owner);
  CREATE INDEX tasks_by_state_change ON tasks (state, changed_at, position, owner_org, owner);
  CREATE INDEX tasks_by_context_change
    ON tasks (context_id, changed_at, position, owner_org, owner, state);
  CREATE INDEX tasks_waiting_by_deadline ON tasks (expires_at, position, owner_org, owner)
    WHERE state = 'deferred';
  CREATE INDEX tasks_waiting_by_owner ON tasks (owner_org, owner) WHERE state = 'deferred';
  CREATE INDEX tasks_by_open_hold ON tasks (open_hold, state, deadline_at) WHERE open_hold IS NOT NULL;
  CREATE TABLE task_approvers (
    email TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (email, position)
  ) WITHOUT ROWID;
  CREATE INDEX task_approvers_of_task ON task_approvers (position);
  CREATE TABLE sent_messages (key TEXT PRIMARY KEY, task_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX sent_messages_of_task ON sent_messages (task_id);
  CREATE TABLE task_states (
    task_id TEXT NOT NULL,
    first INTEGER NOT NULL,
    entered INTEGER NOT NULL,
    states TEXT NOT NULL,
    PRIMARY KEY (task_id, first)
  ) WITHOUT ROWID;
  CREATE TABLE push_targets (
    task_id TEXT NOT NULL,
    id TEXT NOT NULL,
    told INTEGER NOT NULL,
    is_closed INTEGER NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (task_id, id)
  ) WITHOUT ROWID;
  CREATE TABLE machine_releases (
    machine_version INTEGER PRIMARY KEY,
    release TEXT NOT NULL
  );
  CREATE TABLE conversation_turns (
    position INTEGER PRIMARY KEY,
    adapter TEXT NOT NULL,
    id TEXT NOT NULL,
    taken_at INTEGER NOT NULL,
    turn TEXT,
    UNIQUE (adapter, id)
  );
  CREATE INDEX conversation_turns_by_time
    ON conversation_turns (taken_at);
  CREATE TABLE channel_names (
    adapter TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (adapter, name)
  ) WITHOUT ROWID;
  CREATE TABLE acs_sessions (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    session TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE acs_used (
    session_id TEXT NOT NULL,
    used TEXT NOT NULL,
    PRIMARY KEY (session_id, used)
  ) WITHOUT ROWID;
  CREATE TABLE acs_calls (
    session_id TEXT NOT NULL,
    call TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (session_id, call)
  ) WITHOUT ROWID;
  CREATE TRIGGER acs_parts_of_deleted AFTER DELETE ON acs_sessions
    BEGIN
      DELETE FROM acs_used WHERE session_id = OLD.id;
      DELETE FROM acs_calls WHERE session_id = OLD.id;
    END;
  CREATE TABLE delegations (
    id TEXT PRIMARY KEY,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    giver TEXT NOT NULL,
    taker TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    requester TEXT NOT NULL,
    until INTEGER NOT NULL,
    uses_left INTEGER NOT NULL,
    is_suspended INTEGER NOT NULL,
    terms TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX grants_by_requester ON grants (tool, requester);
  CREATE TABLE web_records (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    expires_at INTEGER,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) WITHOUT ROWID;
  CREATE TABLE approval_notices (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL,
    deferral_id TEXT NOT NULL,
    adapter TEXT NOT NULL,
    target TEXT NOT NULL,
    asked TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
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
    ON approval_notices (adapter, target, is_posted, expires_at, position) WHERE due = 1;
${pageTables}
  CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    bytes INTEGER NOT NULL,
    events INTEGER NOT NULL,
    hash TEXT NOT NULL,
    checkpointed INTEGER NOT NULL,
    first INTEGER NOT NULL DEFAULT 1,
    opened TEXT NOT NULL DEFAULT '',
    kept_from INTEGER NOT NULL DEFAULT 1,
    finishing_first INTEGER,
    finishing_bytes INTEGER
  );
  CREATE TABLE audit_outbox (offset INTEGER PRIMARY KEY, lines BLOB NOT NULL);
  CREATE TABLE store_info (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    readable_from INTEGER NOT NULL
  );
  INSERT INTO store_info VALUES (1, 0);
  PRAGMA application_id = ${applicationId};
`;

/** Version 2: what the ruling on a waiting call was made from. */
const rulings = 'ALTER TABLE tasks ADD COLUMN ruled_as TEXT;';

/** Version 3: what calls add to limits, their effects, and outcomes that nobody knows. */
const ledger = `
  CREATE TABLE ledger (
    position INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    call_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    args_sha256 TEXT NOT NULL,
    requester TEXT NOT NULL,
    approver TEXT,
    amount TEXT NOT NULL,
    at INTEGER NOT NULL,
    until INTEGER,
    state TEXT NOT NULL,
    settled TEXT,
    result TEXT
  );
  CREATE INDEX ledger_by_limit ON ledger (name, key, at, state, amount) WHERE kind = 'limit';
  CREATE INDEX ledger_by_time ON ledger (name, at) WHERE kind = 'limit';
  CREATE INDEX ledger_by_effect ON ledger (key, at, state) WHERE kind = 'effect';
  CREATE INDEX ledger_by_digest ON ledger (key, name, at) WHERE kind = 'ran';
  CREATE INDEX ledger_by_outcome ON ledger (state, at, call_id) WHERE kind = 'outcome';
  CREATE INDEX ledger_by_call ON ledger (call_id);
  CREATE INDEX ledger_by_end ON ledger (until) WHERE until IS NOT NULL;
  CREATE INDEX ledger_of_task ON ledger (task_id) WHERE until IS NULL;
`;

/** Steps from each version of the store to the next, from 0, an empty file; append only. */
export const schemaSteps: readonly string[] = [baseline, rulings, ledger];

/**
 * The oldest version whose releases can work with the present tables, so that an upgrade can be undone. A step that
 * they cannot work with raises it to its own number.
 */
export const readableFrom = 1;
