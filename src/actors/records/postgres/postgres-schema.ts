/** Version 1. JSON is stored as text, since tasks may contain values that PostgreSQL's JSON types refuse. */
const baseline = `
  CREATE TABLE tasks (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    revision BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    deadline_at BIGINT,
    deferral_id TEXT,
    machine_version INTEGER NOT NULL,
    audit_seq BIGINT NOT NULL,
    started_call TEXT,
    task TEXT NOT NULL,
    snapshot TEXT,
    context_id TEXT NOT NULL,
    contents TEXT,
    approvers TEXT,
    owner_org TEXT NOT NULL,
    owner TEXT NOT NULL,
    expires_at BIGINT,
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
  CREATE INDEX tasks_by_state ON tasks (state, position);
  CREATE INDEX tasks_by_change ON tasks (changed_at, position);
  CREATE INDEX tasks_by_state_change ON tasks (state, changed_at, position);
  CREATE INDEX tasks_by_context_change ON tasks (context_id, changed_at, position);
  CREATE INDEX tasks_by_owner_change ON tasks (owner_org, owner, changed_at, position);
  CREATE INDEX tasks_waiting_by_deadline ON tasks (expires_at, position) WHERE state = 'deferred';
  CREATE INDEX tasks_waiting_by_owner ON tasks (owner_org, owner) WHERE state = 'deferred';
  CREATE INDEX tasks_by_open_hold ON tasks (open_hold, state, deadline_at) WHERE open_hold IS NOT NULL;
  CREATE TABLE task_approvers (
    email TEXT NOT NULL,
    task_id TEXT NOT NULL,
    PRIMARY KEY (email, task_id)
  );
  CREATE INDEX task_approvers_of_task ON task_approvers (task_id);
  CREATE TABLE sent_messages (key TEXT PRIMARY KEY, task_id TEXT NOT NULL);
  CREATE INDEX sent_messages_of_task ON sent_messages (task_id);
  CREATE TABLE task_states (
    task_id TEXT NOT NULL,
    first INTEGER NOT NULL,
    entered INTEGER NOT NULL,
    states TEXT NOT NULL,
    PRIMARY KEY (task_id, first)
  );
  CREATE TABLE push_targets (
    task_id TEXT NOT NULL,
    id TEXT NOT NULL,
    told BIGINT NOT NULL,
    is_closed BOOLEAN NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (task_id, id)
  );
  CREATE TABLE approval_notices (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id TEXT NOT NULL,
    deferral_id TEXT NOT NULL,
    adapter TEXT NOT NULL,
    target TEXT NOT NULL,
    asked TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended TEXT,
    version INTEGER NOT NULL DEFAULT 1,
    ref TEXT,
    told TEXT,
    is_posted BOOLEAN NOT NULL DEFAULT false,
    due BOOLEAN NOT NULL DEFAULT true,
    is_closed BOOLEAN NOT NULL DEFAULT false,
    UNIQUE (deferral_id, target)
  );
  CREATE INDEX approval_notices_of_task ON approval_notices (task_id);
  CREATE INDEX approval_notices_next
    ON approval_notices (adapter, target, is_posted, expires_at, position) WHERE due;
  CREATE TABLE machine_releases (machine_version INTEGER PRIMARY KEY, release TEXT NOT NULL);
  CREATE TABLE conversation_turns (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    adapter TEXT NOT NULL,
    id TEXT NOT NULL,
    taken_at BIGINT NOT NULL,
    turn TEXT,
    UNIQUE (adapter, id)
  );
  CREATE INDEX conversation_turns_by_time ON conversation_turns (taken_at);
  CREATE TABLE channel_names (
    adapter TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (adapter, name)
  );
  CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    events BIGINT NOT NULL,
    hash TEXT NOT NULL,
    checkpointed BIGINT NOT NULL,
    changes BIGINT NOT NULL
  );
  INSERT INTO audit_head VALUES (1, 0, repeat('0', 64), 0, 0);
  CREATE TABLE audit_lines (line BIGINT PRIMARY KEY, text TEXT NOT NULL);
  CREATE TABLE audit_marks (name TEXT PRIMARY KEY, line BIGINT NOT NULL);
  CREATE TABLE task_changes (
    change BIGINT PRIMARY KEY,
    replica TEXT NOT NULL,
    task_id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    waited TEXT
  );
  CREATE TABLE replicas (
    number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    seen_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    gone_at TIMESTAMPTZ,
    commits BIGINT NOT NULL DEFAULT 0,
    refused TEXT NOT NULL DEFAULT '[]',
    listens TEXT NOT NULL DEFAULT '[]',
    release TEXT,
    machine_version INTEGER
  );
  CREATE TABLE agent_keys (purpose TEXT PRIMARY KEY, key TEXT NOT NULL);
  CREATE TABLE acs_sessions (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    changed_at BIGINT NOT NULL,
    session TEXT NOT NULL
  );
  CREATE INDEX acs_sessions_by_change ON acs_sessions (changed_at);
  CREATE TABLE acs_used (session_id TEXT NOT NULL, used TEXT NOT NULL, PRIMARY KEY (session_id, used));
  CREATE TABLE acs_calls (
    session_id TEXT NOT NULL,
    call TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (session_id, call)
  );
  CREATE TABLE delegations (
    id TEXT PRIMARY KEY,
    since BIGINT NOT NULL,
    until BIGINT NOT NULL,
    giver TEXT NOT NULL,
    taker TEXT NOT NULL
  );
  CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    requester TEXT NOT NULL,
    until BIGINT NOT NULL,
    uses_left INTEGER NOT NULL,
    is_suspended INTEGER NOT NULL,
    terms TEXT NOT NULL
  );
  CREATE INDEX grants_by_requester ON grants (tool, requester);
  CREATE TABLE web_sessions (id TEXT PRIMARY KEY, expires_at BIGINT NOT NULL, session TEXT NOT NULL);
  CREATE INDEX web_sessions_by_end ON web_sessions (expires_at);
  CREATE TABLE web_records (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    expires_at BIGINT,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX web_records_by_end ON web_records (expires_at);
  CREATE TABLE handovers (
    id TEXT PRIMARY KEY,
    task_id TEXT NOT NULL,
    machine_version INTEGER NOT NULL,
    request TEXT NOT NULL,
    sent_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    claimed_by TEXT,
    answer TEXT
  );
`;

/** Version 2: what calls add to limits, their effects, and outcomes that nobody knows. */
const ledger = `
  CREATE TABLE ledger (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
    at BIGINT NOT NULL,
    until BIGINT,
    state TEXT NOT NULL,
    settled TEXT,
    result TEXT,
    ends_at BIGINT
  );
  CREATE INDEX ledger_by_limit ON ledger (name, key, at, state, amount) WHERE kind = 'limit';
  CREATE INDEX ledger_by_time ON ledger (name, at) WHERE kind = 'limit';
  CREATE INDEX ledger_by_effect ON ledger (key, at, state) WHERE kind = 'effect';
  CREATE INDEX ledger_by_digest ON ledger (key, name, at) WHERE kind = 'ran';
  CREATE INDEX ledger_by_outcome ON ledger (state, at, call_id) WHERE kind = 'outcome';
  CREATE UNIQUE INDEX ledger_by_call ON ledger (call_id, kind, name, key);
  CREATE INDEX ledger_by_end ON ledger (until) WHERE until IS NOT NULL;
  CREATE INDEX ledger_of_task ON ledger (task_id) WHERE until IS NULL;
  CREATE INDEX ledger_pending ON ledger (ends_at) WHERE state = 'pending';
`;

/**
 * Version 3: stored sums of calls that ended, so that a limit reads few rows. A row that changes or is deleted leaves its sum,
 * also if a daemon of version 2 changes it. The id of the sum is in `result`, which was empty in rows of limits: another column
 * would break prepared statements of daemons of version 2. The condition on the key of `ledger_by_time` keeps the server from
 * that index for the rows of one key.
 */
const ledgerSums = `
  CREATE TABLE ledger_sums (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    calls INTEGER NOT NULL,
    used NUMERIC NOT NULL
  );
  CREATE INDEX ledger_sums_by_limit ON ledger_sums (name, key, first_at, last_at, used);
  DROP INDEX ledger_by_limit, ledger_by_time;
  CREATE INDEX ledger_by_time ON ledger (name, at) WHERE kind = 'limit' AND key <> '';
  CREATE INDEX ledger_restored ON ledger (at) WHERE kind = 'restored';
  CREATE INDEX ledger_without_sum ON ledger (name, key, at, state, amount)
    WHERE kind = 'limit' AND result IS NULL;
  CREATE INDEX ledger_of_sum ON ledger (result, at) WHERE kind = 'limit' AND result IS NOT NULL;
  CREATE FUNCTION leave_ledger_sum() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
    UPDATE ledger_sums SET calls = calls - 1, used = used
      - CASE WHEN OLD.state IN ('succeeded', 'failed', 'unknown') THEN OLD.amount::numeric ELSE 0 END
      WHERE id = OLD.result::bigint;
    DELETE FROM ledger_sums WHERE id = OLD.result::bigint AND calls = 0;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    NEW.result := NULL;
    RETURN NEW;
  END $body$;
  CREATE TRIGGER ledger_leaves_sum BEFORE UPDATE OF name, key, at, state, amount OR DELETE ON ledger
    FOR EACH ROW WHEN (OLD.kind = 'limit' AND OLD.result IS NOT NULL) EXECUTE FUNCTION leave_ledger_sum();
`;

/** Steps from each version of the tables to the next, from 0, an empty schema; append only. */
export const postgresSteps: readonly string[] = [baseline, ledger, ledgerSums];

/**
 * The oldest version whose releases can work with the present tables: their daemons can run together with newer ones, and an
 * upgrade can be undone. A step that they cannot work with raises it to its own number.
 */
export const readableFrom = 1;
