import type {
  FirstEffect,
  LedgerChange,
  LedgerEnd,
  LedgerEntry,
  OpenOutcome,
} from '../../../machines/domain/ledger.ts';
import type { Task } from '../../../machines/domain/task.ts';
import type { MeasureInput } from '../../../machines/governance/bounds.ts';
import { valuesOfKey } from '../../../machines/governance/limit-standing.ts';
import type {
  EqualCall,
  KeyStanding,
  KnownLimit,
  OutcomePage,
  Settlement,
} from '../../ports/ledger.ts';

/**
 * The state of an entry. `returned` is that of a call that did not run according to a person: it counts for nothing. An
 * outcome that nobody knows is `unknown`, then `settled`.
 */
export type LedgerState =
  | 'pending'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'unknown'
  | 'returned'
  | 'settled';

/** A row of the ledger: what a call adds to a limit, its effect, or its outcome that nobody knows. */
export interface LedgerRow {
  /**
   * `ran` is a call that may have run, under its tool and the digest of its arguments; `restored` marks the time at which the store
   * was restored from a backup.
   */
  kind: 'limit' | 'effect' | 'outcome' | 'ran' | 'restored';
  name: string;
  key: string;
  call_id: string;
  task_id: string;
  tool: string;
  args_sha256: string;
  /** JSON. */
  requester: string;
  approver: string | null;
  /** An exact decimal; empty unless the row belongs to a limit. */
  amount: string;
  at: number;
  /** `null` as long as the task is stored. */
  until: number | null;
  state: LedgerState;
  /** The statement of a person as JSON. */
  settled: string | null;
  /** The result of a call that later calls can join. PostgreSQL stores the id of the sum of a row of a limit here. */
  result: string | null;
}

/** The columns of the ledger, in the order of its table. */
export const ledgerColumns = [
  ...['kind', 'name', 'key', 'call_id', 'task_id', 'tool', 'args_sha256'],
  ...['requester', 'approver', 'amount', 'at', 'until', 'state', 'settled', 'result'],
] as readonly (keyof LedgerRow)[];

/** `ledgerColumns` as SQL: a statement that names its columns keeps its result if a later version adds a column. */
export const ledgerNames = ledgerColumns.join(', ');

/** Returns the rows of what is reserved for a call. */
export function reservedRows(
  { taskId, call, requester, approver }: MeasureInput,
  entries: readonly LedgerEntry[],
  { at, state }: Pick<LedgerRow, 'at' | 'state'>,
): LedgerRow[] {
  return entries.map((entry) => ({
    ...{ kind: entry.kind, name: entry.name, key: entry.key, call_id: call.id, task_id: taskId },
    ...{ tool: call.tool, args_sha256: call.argsSha256, requester: requesterOf(requester) },
    ...{ approver: approver ?? null, amount: entry.kind === 'limit' ? entry.amount : '' },
    ...{ at, until: entry.until, state, settled: null, result: null },
  }));
}

/** Returns the column of a requester. */
export function requesterOf(requester: FirstEffect['requester']): string {
  if (requester === null) return 'null';
  const { provider, userId, email, orgId } = requester;
  return JSON.stringify({ provider, userId, email, orgId });
}

/** Returns the row of a call whose outcome nobody knows. */
export function outcomeRow(
  of: Pick<LedgerRow, 'call_id' | 'task_id' | 'tool' | 'args_sha256' | 'requester' | 'at'>,
): LedgerRow {
  return {
    ...{ kind: 'outcome', name: '', key: '', call_id: of.call_id, task_id: of.task_id },
    ...{ tool: of.tool, args_sha256: of.args_sha256, requester: of.requester, approver: null },
    ...{ amount: '', at: of.at, until: null, state: 'unknown', settled: null, result: null },
  };
}

/** Returns the row by which later equal calls find a call. */
export function ranRow(
  { callId, tool, argsSha256, at, approver }: Extract<LedgerChange, { type: 'started' }>,
  { id, requester }: Pick<Task, 'id' | 'requester'>,
): LedgerRow {
  return {
    ...{ kind: 'ran', name: tool, key: argsSha256, call_id: callId, task_id: id, tool },
    ...{ args_sha256: argsSha256, requester: requesterOf(requester), approver: approver ?? null },
    ...{ amount: '', at, until: null, state: 'running', settled: null, result: null },
  };
}

/** True for a row of what a call adds to a limit, or of its effect. */
export function isEntry({ kind }: Pick<LedgerRow, 'kind'>): boolean {
  return kind === 'limit' || kind === 'effect';
}

/** Returns an earlier equal call from its row. */
export function equalOf(row: LedgerRow): EqualCall {
  const { call_id: callId, at, approver } = row;
  const requester = parsedRequester(row);
  return { callId, at: Number(at), requester, ...(approver === null ? {} : { approver }) };
}

/** Identifies an entry among those of its call. */
export function entryId({ kind, name, key }: Pick<LedgerRow, 'kind' | 'name' | 'key'>): string {
  return JSON.stringify([kind, name, key.toWellFormed()]);
}

/**
 * Returns the state of an entry after the end of its call; `null` deletes it. An outcome that is known stays; so does the
 * statement of a person, unless the call turns out to have succeeded.
 */
export function stateAfter(
  state: LedgerState,
  end: LedgerEnd,
  isSettled: boolean,
): LedgerState | null {
  const isOpen = state === 'pending' || state === 'running' || state === 'unknown';
  if (isSettled ? end !== 'succeeded' : !isOpen) return state;
  return end === 'not_run' ? null : end;
}

/**
 * Returns why a person cannot state the outcome of a call, from its rows: it is not known to be failed or unknown, or
 * it was stated before; `null` if a person can.
 */
export function settledBefore(rows: readonly LedgerRow[]): 'unknown' | 'settled' | null {
  const outcome = rows.find(({ kind }) => kind === 'outcome');
  if (outcome?.state === 'settled') return 'settled';
  return outcome !== undefined || rows.some(({ state }) => state === 'failed') ? null : 'unknown';
}

/** Returns the row of a call that a person settled, from its rows before. */
export function settledRow(rows: readonly LedgerRow[], settled: Settlement): LedgerRow {
  const known = rows.find(({ kind }) => kind === 'outcome');
  return {
    ...(known ?? outcomeRow({ ...(rows[0] as LedgerRow), at: settled.at })),
    ...{ state: 'settled', settled: JSON.stringify(settled) },
  };
}

/** Time for which entries outlive their period, so that a clock that was wrong for a while deletes none, in milliseconds. */
export const spareTime = 86_400_000;

/** True, as SQL, for an outcome of a call that still counts without its task: a person can settle it until then. */
export const stillSettled = `(ledger.kind = 'outcome' AND EXISTS (SELECT 1 FROM ledger AS entry
  WHERE entry.call_id = ledger.call_id AND entry.kind IN ('limit', 'effect') AND entry.until IS NOT NULL))`;

/** True, as SQL, for an entry whose time is over by a parameter; an effect stays until its call ends and its outcome is known. */
export const isPastEnd = (now: string) =>
  `until <= ${now} AND NOT (kind = 'effect' AND state IN ('running', 'unknown'))`;

/** Rows that one step of a recovery looks at. */
export const mostRecovered = 10_000;

/** True, as SQL, for an entry of a call that runs neither in a task nor at a program. */
export const isLost = `ledger.kind IN ('limit', 'effect') AND ledger.state = 'running' AND NOT EXISTS (
  SELECT 1 FROM tasks WHERE tasks.id = ledger.task_id
    AND (tasks.started_call = ledger.call_id OR tasks.state = 'completed' AND tasks.deadline_at IS NOT NULL))`;

/** Returns the query, as SQL, for a row of an unknown outcome for each call of `entries`. */
export const lostOutcomes = (entries: string, now: string) => `INSERT INTO ledger
    (kind, name, key, call_id, task_id, tool, args_sha256, requester, amount, at, state)
  SELECT DISTINCT 'outcome', '', '', call_id, task_id, tool, args_sha256, requester, '', ${now}, 'unknown'
    FROM ${entries}`;

/** States of calls that ran, or may have run, as SQL. */
export const usedStates = "('succeeded', 'failed', 'unknown')";

/** States of calls whose effect is a repeat's first one, as SQL. */
export const effectiveStates = "('pending', 'running', 'succeeded', 'unknown')";

/** Returns the earlier call of an equal effect from its row. */
export function firstOf(row: LedgerRow): FirstEffect {
  const { approver, state, result } = row;
  return {
    ...{ key: row.key, callId: row.call_id, taskId: row.task_id, argsSha256: row.args_sha256 },
    ...{ requester: parsedRequester(row), at: Number(row.at) },
    ...(approver === null ? {} : { approver }),
    outcome: state === 'succeeded' || state === 'unknown' ? state : 'running',
    ...(result === null ? {} : { result }),
  };
}

/** Returns a call whose outcome nobody knows from its row, and what it counts for from the rows of its entries. */
export function openOutcomeOf(row: LedgerRow, entries: readonly LedgerRow[]): OpenOutcome {
  const { settled } = row;
  return {
    ...{ callId: row.call_id, taskId: row.task_id, tool: row.tool, argsSha256: row.args_sha256 },
    ...{ at: Number(row.at), requester: parsedRequester(row), entries: entries.map(entryOf) },
    // Safe to cast: the column contains only values written by `settle`.
    ...(settled === null ? {} : { settled: JSON.parse(settled) as Settlement }),
  };
}

/** Returns the call of rows if a person can settle it, or settled it before. */
export function outcomeIn(rows: readonly LedgerRow[]): OpenOutcome | undefined {
  if (settledBefore(rows) === 'unknown') return undefined;
  const entries = rows.filter(isEntry);
  const row = rows.find(({ kind }) => kind === 'outcome') ?? entries[0];
  return row && openOutcomeOf(row, entries);
}

function entryOf({ kind, name, key, amount, until }: LedgerRow): LedgerEntry {
  return kind === 'limit'
    ? { kind, name, key, amount, until: Number(until) }
    : { kind: 'effect', name, key, until: until === null ? null : Number(until) };
}

function parsedRequester({ requester }: Pick<LedgerRow, 'requester'>): FirstEffect['requester'] {
  // Safe to cast: the column contains only values written by `requesterOf`.
  return JSON.parse(requester) as FirstEffect['requester'];
}

/** Maximum of the newest calls of a limit whose keys have a standing. */
export const mostNewest = 20_000;

/** Returns the standing of a key of a limit. */
export function standingOf(
  { name, period, max }: KnownLimit,
  {
    key,
    requester,
    used,
    reserved,
  }: Pick<LedgerRow, 'key' | 'requester'> & { used: string; reserved: string },
): KeyStanding {
  const by = valuesOfKey(key, parsedRequester({ requester }));
  return { name, by, period, max, used, reserved, key };
}

/** Returns the states of the outcomes that a query lists. */
export function statesOf(isOpen: boolean | undefined): LedgerState[] {
  return isOpen === undefined ? ['unknown', 'settled'] : [isOpen ? 'unknown' : 'settled'];
}

/** Returns a page of outcomes from their rows, at most one more than its limit, and from the entries of their calls. */
export function outcomePage(
  found: readonly LedgerRow[],
  limit: number,
  entries: readonly LedgerRow[],
): OutcomePage {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const ofCall = Map.groupBy(entries, ({ call_id: id }) => id);
  return {
    outcomes: page.map((row) => openOutcomeOf(row, ofCall.get(row.call_id) ?? [])),
    cursor: last === undefined || found.length <= limit ? null : `${last.at}-${last.call_id}`,
  };
}

/** Returns the place of a cursor in the list of outcomes; the start for any other text. */
export function placeOfCursor(cursor: string | undefined): { at: number; callId: string } {
  const [, at = '', callId = ''] = /^(\d{1,16})-(.*)$/s.exec(cursor ?? '') ?? [];
  return at === '' ? { at: Number.MAX_SAFE_INTEGER, callId: '' } : { at: Number(at), callId };
}
