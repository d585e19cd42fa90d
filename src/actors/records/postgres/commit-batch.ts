import type { TaskState } from '../../../machines/domain/task.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Ledger, Settlement, StatementEvent } from '../../ports/ledger.ts';
import type { LineSigner } from '../log/line-signer.ts';
import type { LedgerRow } from '../store/ledger-rows.ts';
import type { TaskWrite } from '../store/task-store.ts';

/** The content of one commit. */
export interface Batch {
  /** Sequence number of the commit within this daemon. */
  number: number;
  writes: readonly TaskWrite[];
  /** Events that belong to no task. */
  events: readonly AuditEvent[];
  /** Statements of people on calls whose outcome nobody knows. */
  settlings: readonly Settling[];
  /** Time at which a checkpoint was requested; `null` for none. */
  checkpointAt: string | null;
}

/** The statement of a person on a call, and what came of it once it is committed. */
export interface Settling {
  callId: string;
  settled: Settlement;
  event: StatementEvent;
  result: Awaited<ReturnType<Ledger['settle']>>;
}

/** Settings of the commits of a daemon. */
export interface CommitSettings {
  replica: string;
  /** Notification channel that informs other daemons of the commit. */
  channel: string;
  schema: string;
  /** Number of the table of the tasks that this daemon joined. */
  tables: number;
  /** True if the tables may be a copy that is not settled yet. */
  acceptsCopy: boolean;
  chain: boolean;
  signer: LineSigner | null;
}

/** A statement of a commit. */
export interface Statement {
  text: string;
  values: unknown[];
  /** True for SQL that the server plans at each use, for the given values. */
  isPlannedAnew?: boolean;
}

/** Position of the shared log, and number of the last change. */
export interface Head {
  events: number;
  hash: string;
  checkpointed: number;
  changes: number;
}

/** State of a task before the commit. */
export interface Before {
  revision: number;
  state: TaskState;
  deadline_at: number | null;
  deferral_id: string | null;
  approvers: string | null;
  has_values: number;
  /** JSON of the owner data while its call is held; `null` for a task that does not wait. */
  waited: string | null;
}

/** State of the store before the commit. */
export interface Ground {
  head: Head;
  before: ReadonlyMap<string, Before>;
  /** The task of each message. */
  ledTo: ReadonlyMap<string, string>;
  /** The rows of calls that start or are settled; `null` if they are not read, and the server refuses a missing one. */
  ledger: readonly LedgerRow[] | null;
}

/**
 * Returns a statement that fails with `overtaken` unless the given query, which changes rows, returns as many rows as its
 * last parameter says.
 */
export function exactly({ values, ...statement }: Statement, rows: number): Statement {
  const { text } = statement;
  return {
    ...statement,
    text: `WITH done AS (${text}) SELECT 1 / (count(*) = $${values.length + 1})::int FROM done`,
    values: [...values, rows],
  };
}

/** SQLSTATE of `exactly`, a division by zero: the store is not as the commit expected. */
export const overtaken = '22012';
