/** A table to copy: reading its rows from SQLite, and its PostgreSQL columns. */
export interface CopiedTable {
  name: string;
  select: string;
  /** Columns with their types. */
  columns: Readonly<Record<string, 'bigint' | 'integer' | 'text' | 'boolean'>>;
  /** True for rows with a sequential number. */
  isNumbered?: boolean;
}

const text = 'text';
const bigint = 'bigint';
const integer = 'integer';
const boolean = 'boolean';

/** Tables of an agent without its log, in a valid insertion order. */
export const copiedTables: readonly CopiedTable[] = [
  {
    name: 'tasks',
    select: 'SELECT * FROM tasks ORDER BY position',
    isNumbered: true,
    columns: {
      position: bigint,
      id: text,
      state: text,
      revision: bigint,
      changed_at: bigint,
      deadline_at: bigint,
      deferral_id: text,
      machine_version: integer,
      audit_seq: bigint,
      started_call: text,
      task: text,
      snapshot: text,
      context_id: text,
      contents: text,
      approvers: text,
      owner_org: text,
      owner: text,
      expires_at: bigint,
      open_hold: text,
      has_values: integer,
    },
  },
  {
    name: 'task_values',
    select: 'SELECT task_id, digest, value, is_asked FROM task_values',
    columns: { task_id: text, digest: text, value: text, is_asked: integer },
  },
  {
    name: 'task_approvers',
    select: `SELECT email, id AS task_id FROM task_approvers JOIN tasks USING (position)`,
    columns: { email: text, task_id: text },
  },
  {
    name: 'sent_messages',
    select: 'SELECT key, task_id FROM sent_messages',
    columns: { key: text, task_id: text },
  },
  {
    name: 'task_states',
    select: 'SELECT task_id, first, entered, states FROM task_states',
    columns: { task_id: text, first: integer, entered: integer, states: text },
  },
  {
    name: 'push_targets',
    select: 'SELECT task_id, id, told, is_closed, target FROM push_targets',
    columns: { task_id: text, id: text, told: bigint, is_closed: boolean, target: text },
  },
  {
    name: 'approval_notices',
    select: 'SELECT * FROM approval_notices ORDER BY position',
    isNumbered: true,
    columns: {
      position: bigint,
      task_id: text,
      deferral_id: text,
      adapter: text,
      target: text,
      asked: text,
      requested_at: bigint,
      expires_at: bigint,
      ended: text,
      version: integer,
      ref: text,
      told: text,
      is_posted: boolean,
      due: boolean,
      is_closed: boolean,
    },
  },
  {
    name: 'machine_releases',
    select: 'SELECT machine_version, release FROM machine_releases',
    columns: { machine_version: integer, release: text },
  },
  {
    name: 'conversation_turns',
    select: 'SELECT * FROM conversation_turns ORDER BY position',
    isNumbered: true,
    columns: { position: bigint, adapter: text, id: text, taken_at: bigint, turn: text },
  },
  {
    name: 'channel_names',
    select: 'SELECT adapter, name, id FROM channel_names',
    columns: { adapter: text, name: text, id: text },
  },
  {
    name: 'acs_sessions',
    select: 'SELECT id, version, changed_at, session FROM acs_sessions',
    columns: { id: text, version: integer, changed_at: bigint, session: text },
  },
  {
    name: 'acs_used',
    select: 'SELECT session_id, used FROM acs_used',
    columns: { session_id: text, used: text },
  },
  {
    name: 'acs_calls',
    select: 'SELECT session_id, call, key FROM acs_calls',
    columns: { session_id: text, call: text, key: text },
  },
  {
    name: 'delegations',
    select: 'SELECT id, since, until, giver, taker FROM delegations',
    columns: { id: text, since: bigint, until: bigint, giver: text, taker: text },
  },
  {
    name: 'grants',
    select: 'SELECT id, tool, requester, until, uses_left, is_suspended, terms FROM grants',
    columns: {
      ...{ id: text, tool: text, requester: text, until: bigint },
      ...{ uses_left: integer, is_suspended: integer, terms: text },
    },
  },
  {
    name: 'ledger',
    select: 'SELECT * FROM ledger ORDER BY position',
    isNumbered: true,
    columns: {
      ...{ position: bigint, kind: text, name: text, key: text, call_id: text, task_id: text },
      ...{ tool: text, args_sha256: text, requester: text, approver: text, amount: text },
      ...{ at: bigint, until: bigint, state: text, settled: text, result: text },
    },
  },
  {
    name: 'web_records',
    // Challenges end within minutes.
    select: "SELECT kind, id, owner, expires_at, value FROM web_records WHERE kind = 'passkey'",
    columns: { kind: text, id: text, owner: text, expires_at: bigint, value: text },
  },
];
