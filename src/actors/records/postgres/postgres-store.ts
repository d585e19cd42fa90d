import { randomUUID } from 'node:crypto';
import { taskMachineVersion } from '../../../machines/task/snapshot-steps.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import {
  type Exporting,
  type ExportSummary,
  exportFrom,
  type TakeLine,
} from '../log/export-task.ts';
import type { LineSigner } from '../log/line-signer.ts';
import type { AuditOpening, AuditRecovery } from '../store/audit-opening.ts';
import { stillSettled } from '../store/ledger-rows.ts';
import { replayTime, type TaskStore, type TaskWrite } from '../store/task-store.ts';
import { ChangeReader, type StoreChange } from './change-reader.ts';
import { CommitQueue } from './commit-queue.ts';
import { type CommittedLines, followLines, type LinesUntil, readLines } from './committed-lines.ts';
import { databaseError } from './database-error.ts';
import { FellowDaemons, type ListeningPlace } from './fellow-daemons.ts';
import { Handovers, handoverNotice, pruneHandovers } from './handovers.ts';
import type { JobWriter } from './job-writer.ts';
import { groupOf, living } from './living-replicas.ts';
import { openSchema } from './open-schema.ts';
import { postgresAcsSessions, pruneAcsSessions } from './postgres-acs-sessions.ts';
import { PostgresApprovalRows } from './postgres-approval-rows.ts';
import { PostgresConversationRows } from './postgres-conversation-rows.ts';
import { type PostgresAddress, PostgresDatabase } from './postgres-database.ts';
import { postgresDelegations } from './postgres-delegations.ts';
import { postgresGrants } from './postgres-grants.ts';
import { PostgresLedger } from './postgres-ledger.ts';
import { postgresChannelNames, postgresKeys, postgresReleases } from './postgres-names.ts';
import { PostgresPushRows } from './postgres-push-rows.ts';
import { PostgresTaskRows } from './postgres-task-rows.ts';
import { postgresWebRecords } from './postgres-web-records.ts';
import { postgresWebSessions } from './postgres-web-sessions.ts';
import { ReplicaNote } from './replica-note.ts';
import { ReplicaSession } from './replica-session.ts';
import { ServerClock } from './server-clock.ts';
import type { SessionLock } from './session-lock.ts';
import { sinksMark } from './sinks-mark.ts';

export interface PostgresStoreOptions extends PostgresAddress {
  agentId: string;
  /** State folder of the agent, locked by this daemon; when absent, earlier users of the folder are unknown. */
  folder?: string;
  audit: { chain: boolean; signer: LineSigner | null };
  /** True if the tables may be a copy that is not settled yet. */
  acceptsCopy?: boolean;
  /** The running release, which other daemons name; not recorded when absent. */
  release?: string;
  log: Log;
}

/** State of a schema's daemons when another one joins. */
interface Joined {
  group: number;
  number: number;
  isFirst: boolean;
  changes: number;
  tables: number;
}

/** Time for a living daemon to reconnect after a database outage, in milliseconds. */
const returnTime = 5_000;

/** The tasks and the log of an agent in PostgreSQL, for several concurrent daemons. */
export class PostgresStore implements TaskStore {
  readonly rows: PostgresTaskRows;
  readonly push: PostgresPushRows;
  readonly approvals: PostgresApprovalRows;
  readonly releases: TaskStore['releases'];
  readonly conversations: PostgresConversationRows;
  readonly channelNames: TaskStore['channelNames'];
  readonly keys: TaskStore['keys'];
  readonly acsSessions: TaskStore['acsSessions'];
  readonly delegations: TaskStore['delegations'];
  readonly grants: TaskStore['grants'];
  readonly webSessions: TaskStore['webSessions'];
  readonly webRecords: TaskStore['webRecords'];
  readonly ledger: PostgresLedger;
  readonly remedy = 'try again in a moment; its log says what is wrong with the database';
  readonly damage = null;
  /** Commits are durable in the database; files are only copies. */
  readonly unsynced = 0;
  readonly recovery: AuditRecovery = { torn: null, replayed: 0 };
  readonly opening: AuditOpening = { behind: null, lost: null, restored: null, lines: null };
  readonly database: PostgresDatabase;
  /** Name of this daemon among those over the schema; its number is below. */
  readonly replica: string;
  readonly number: number;
  /** True if no other daemon was running over the schema when this one joined, or shortly before. */
  readonly isFirst: boolean;
  /** Requests for tasks of later releases. */
  readonly handovers: Handovers;
  readonly #fellows: FellowDaemons;
  readonly #group: number;
  readonly #queue: CommitQueue;
  readonly #onCommit = new Set<() => void>();
  readonly #readers = new Set<ChangeReader>();
  readonly #onReturn = new Set<() => void>();
  readonly #changes: number;
  onCommit: (milliseconds: number) => void = () => undefined;
  readonly #clocks: ServerClock[] = [];
  #session: ReplicaSession | null = null;
  #isConnected = true;
  #closing: Promise<void> | null = null;
  #beforeClosing: () => Promise<void> = async () => undefined;

  private constructor(
    database: PostgresDatabase,
    replica: string,
    joined: Joined,
    options: PostgresStoreOptions,
  ) {
    this.database = database;
    this.replica = replica;
    this.number = joined.number;
    this.isFirst = joined.isFirst;
    this.#group = joined.group;
    this.#changes = joined.changes;
    this.rows = new PostgresTaskRows(database);
    this.push = new PostgresPushRows(database);
    this.approvals = new PostgresApprovalRows(database);
    this.releases = postgresReleases(database);
    this.conversations = new PostgresConversationRows(database);
    this.channelNames = postgresChannelNames(database);
    this.keys = postgresKeys(database);
    this.acsSessions = postgresAcsSessions(database);
    this.delegations = postgresDelegations(database);
    this.grants = postgresGrants(database);
    this.webSessions = postgresWebSessions(database);
    this.webRecords = postgresWebRecords(database);
    this.#fellows = new FellowDaemons(database, replica);
    this.handovers = new Handovers({
      database,
      replica,
      channel: channelOf(database.schema),
      log: options.log,
    });
    this.#queue = new CommitQueue(database, {
      replica,
      channel: channelOf(database.schema),
      schema: database.schema,
      tables: joined.tables,
      acceptsCopy: options.acceptsCopy === true,
      ...options.audit,
      log: options.log,
      onCommitted: () => this.#tellCommit(),
      onCommit: (milliseconds) => this.onCommit(milliseconds),
    });
    this.ledger = new PostgresLedger(database, this.#queue);
  }

  /** Opens the store of an agent and joins its daemons. Throws StoreError when it cannot be used. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const database = await PostgresDatabase.load(options);
    const replica = randomUUID().slice(0, 8);
    const note = options.folder === undefined ? null : new ReplicaNote(options.folder);
    note?.joins(replica);
    let store: PostgresStore | null = null;
    try {
      const opened = await database.transaction(async (client) => {
        // The transaction is idle while the other connection is opened.
        await client.query(`SET LOCAL idle_in_transaction_session_timeout = '30s'`);
        await openSchema(client, options);
        await client.query(firstMark, [sinksMark]);
        const { rows } = await client.query<Joined>(join, [
          ...[database.schema, replica],
          note?.gone ?? [],
          options.release ?? null,
          taskMachineVersion,
        ]);
        store = new PostgresStore(database, replica, rows[0] as Joined, options);
        // Other daemons see this one together with its lock, or not at all.
        store.#session = await store.#openSession(options.log);
        return store;
      });
      note?.joined(replica);
      return opened;
    } catch (error) {
      const opened = store as PostgresStore | null;
      if (opened !== null) await opened.#session?.close();
      await database.close().catch(() => undefined);
      throw databaseError(error, options);
    }
  }

  /** Exports the lines of a task like `exportTask` of a file, reading from the line before the first of them. */
  async exportTask(
    exporting: Exporting & { task: string },
    take: TakeLine,
  ): Promise<ExportSummary> {
    const member = `"task_id":${JSON.stringify(exporting.task)}`;
    const sql = 'SELECT min(line) AS line FROM audit_lines WHERE position($1 IN text) > 0';
    const [first] = await this.database.query<{ line: number | null }>(sql, [member]);
    const from = first?.line ?? null;
    const parts =
      from === null ? [] : [{ path: 'audit_lines', lines: () => this.#lines(from - 2) }];
    return exportFrom(parts, exporting, take);
  }

  async *#lines(after: number): AsyncGenerator<Uint8Array> {
    for (let next = after; ; ) {
      const { first, texts } = await readLines(this.database, next);
      if (texts.length === 0) return;
      for (const text of texts) yield Buffer.from(text);
      next = first + texts.length - 1;
    }
  }

  /** Subscribes to the return of the database after an outage. */
  onReturn(hear: () => void): void {
    this.#onReturn.add(hear);
  }

  /** Sets the engine that writes the jobs of every commit from now on. */
  useJobs(jobs: JobWriter): void {
    this.#queue.useJobs(jobs);
  }

  /**
   * Number of refused conflicting changes, and time for which changes of other daemons have been waiting to be read, in
   * milliseconds.
   */
  get figures(): { conflicts: number; lag: number } {
    const lag = Math.max(0, ...[...this.#readers].map((reader) => reader.lag));
    return { conflicts: this.#queue.conflicts, lag };
  }

  save(id: string, collect: () => TaskWrite): Promise<void> {
    return this.#queue.save(id, collect);
  }

  record(events: readonly AuditEvent[]): Promise<void> {
    return this.#queue.record(events);
  }

  flush(): Promise<Error | null> {
    return this.#queue.flush();
  }

  isWritable(): boolean {
    return this.#isConnected && this.#queue.failure === null;
  }

  async deleteEnded(before: number): Promise<number> {
    const rows = await this.database.query<{ id: string }>(deleteEnded, [before]);
    if (rows.length === 0) await this.#prune(before);
    return rows.length;
  }

  checkpoint(): void {
    const now = this.#session?.serverTime ?? Date.now();
    this.#queue.checkpoint(new Date(Math.round(now)).toISOString());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Sets a callback that runs after the last commit, while the database is still available. */
  beforeClosing(end: () => Promise<void>): void {
    this.#beforeClosing = end;
  }

  async #close(): Promise<void> {
    this.ledger.close();
    await this.#queue.close();
    await this.#beforeClosing();
    // Marks this daemon as gone, so that others take over its tasks.
    const goodbye = `UPDATE replicas SET seen_at = 'epoch' WHERE id = $1`;
    if (this.#isConnected) {
      await this.database.query(goodbye, [this.replica]).catch(() => undefined);
    }
    await this.#session?.close();
    await this.database.close();
  }

  /**
   * Subscribes to changes by other daemons since this one joined, in commit order; the returned function unsubscribes.
   */
  follow(hear: (change: StoreChange) => Promise<void>): () => void {
    const { database, replica } = this;
    const reader = new ChangeReader({ database, replica, position: this.#changes }, hear);
    this.#readers.add(reader);
    return this.#onEachCommit(() => void reader.read());
  }

  /** Yields the log lines after a line number, then new ones, until a signal ends it. */
  lines(after: number, until: LinesUntil): AsyncGenerator<CommittedLines> {
    return followLines(this.database, after, {
      ...until,
      onCommit: (hear) => this.#onEachCommit(hear),
    });
  }

  /** Returns the number of the last log line; 0 for none. */
  async lastLine(): Promise<number> {
    const sql = 'SELECT max(line) AS line FROM audit_lines';
    return Number((await this.database.query<{ line: number | null }>(sql))[0]?.line ?? 0);
  }

  /** Returns a log line by its number, from 1. */
  async lineAt(line: number): Promise<string | undefined> {
    const sql = 'SELECT text FROM audit_lines WHERE line = $1';
    return (await this.database.query<{ text: string }>(sql, [line]))[0]?.text;
  }

  /** Returns the number of the last processed line under a name. */
  async mark(name: string): Promise<number> {
    const sql = 'SELECT line FROM audit_marks WHERE name = $1';
    return (await this.database.query<{ line: number }>(sql, [name]))[0]?.line ?? 0;
  }

  /** Stores the number of the last processed line under a name. */
  async setMark(name: string, line: number): Promise<void> {
    await this.database.query('UPDATE audit_marks SET line = $2 WHERE name = $1', [name, line]);
  }

  /**
   * Acquires a lock that only one daemon can hold; `null` while another one holds it. Rejects with the driver's error,
   * or SilenceError.
   */
  async lock(name: string): Promise<SessionLock | null> {
    return (await this.#session?.lock(`${name} of ${this.database.schema}`)) ?? null;
  }

  /** Returns the daemons without a connection that have not been cleaned up. */
  async deadReplicas(): Promise<string[]> {
    // After a database outage the other daemons are still reconnecting.
    if ((this.#session?.age ?? 0) < returnTime) return [];
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM replicas WHERE gone_at IS NULL AND id <> $1 AND number NOT IN (${living('$2')})`,
      [this.replica, this.#group],
    );
    return rows.map(({ id }) => id);
  }

  /** Returns whether a daemon is connected to the database. */
  async isAlive(replica: string): Promise<boolean> {
    const rows = await this.database.query(
      `SELECT 1 FROM replicas WHERE id = $1 AND number IN (${living('$2')})`,
      [replica, this.#group],
    );
    return rows.length > 0;
  }

  /** Records the end of a daemon. */
  async forgetReplica(replica: string): Promise<void> {
    // The daemon may have returned meanwhile.
    await this.database.query(
      `UPDATE replicas SET gone_at = now() WHERE id = $1 AND number NOT IN (${living('$2')})`,
      [replica, this.#group],
    );
  }

  /**
   * Shares this daemon's listening addresses with the other daemons over the schema, and subscribes to theirs; calls
   * the listener now and on each change. Rejects with the driver's error.
   */
  async listensAt(
    own: readonly ListeningPlace[],
    hear: (fellows: readonly ListeningPlace[]) => void,
  ): Promise<void> {
    await this.#fellows.tell(own, channelOf(this.database.schema));
    await this.#fellows.follow(hear);
  }

  /** Returns a clock based on database time, so that daemons with different clocks agree. */
  clock(base: Clock): Clock {
    const clock = new ServerClock(base);
    if (this.#session !== null) clock.set(this.#session.serverTime);
    this.#clocks.push(clock);
    return clock;
  }

  #openSession(log: Log): Promise<ReplicaSession> {
    return ReplicaSession.open({
      log,
      database: this.database,
      lock: { group: this.#group, number: this.number },
      replica: this.replica,
      channel: channelOf(this.database.schema),
      listens: () => this.#fellows.listens,
      onCommit: (replica) => {
        if (replica === this.replica) return;
        if (replica === handoverNotice) return this.handovers.heard();
        this.#tellCommit();
        this.#fellows.heard(replica);
      },
      onTime: (serverTime) => {
        for (const clock of this.#clocks) clock.set(serverTime);
      },
      onConnected: (isConnected) => {
        this.#isConnected = isConnected;
        if (!isConnected) return;
        this.#queue.hurry();
        for (const hear of this.#onReturn) hear();
      },
    });
  }

  #onEachCommit(hear: () => void): () => void {
    this.#onCommit.add(hear);
    hear();
    return () => this.#onCommit.delete(hear);
  }

  #tellCommit(): void {
    for (const hear of this.#onCommit) hear();
  }

  async #prune(before: number): Promise<void> {
    await this.database.query(pruneAcsSessions, [before - replayTime]);
    await this.database.query(
      'DELETE FROM task_changes WHERE change < (SELECT changes FROM audit_head) - 100000',
    );
    await this.database.query(`DELETE FROM replicas WHERE gone_at < now() - interval '7 days'`);
    await this.database.query(pruneHandovers);
    // A message that was posted while its task was deleted may have left some.
    await this.database.query(
      'DELETE FROM task_values WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = task_id)',
    );
  }
}

const parts = [
  'task_values',
  'task_approvers',
  'sent_messages',
  'task_states',
  'push_targets',
  'approval_notices',
];

/** A daemon seen since then may be reconnecting, such as after a database outage. */
const lately = `now() - interval '15 seconds'`;

/** A task that runs again concurrently is re-evaluated when it is locked, and kept. */
const deleteEnded = `WITH gone AS (
    SELECT id FROM tasks WHERE state IN ('completed', 'failed', 'canceled') AND changed_at < $1
    LIMIT 1000 FOR UPDATE SKIP LOCKED
  ), ${parts
    .map((part) => `${part}_gone AS (DELETE FROM ${part} WHERE task_id IN (SELECT id FROM gone))`)
    .join(', ')}, ledger_gone AS (
    DELETE FROM ledger WHERE until IS NULL AND task_id IN (SELECT id FROM gone) AND NOT ${stillSettled})
  DELETE FROM tasks WHERE id IN (SELECT id FROM gone) RETURNING id`;

/** The connection of a dead daemon may end a moment after its death is detected. */
const join = `WITH me AS (INSERT INTO replicas (id, release, machine_version)
    VALUES ($2, $4, $5) RETURNING number)
  SELECT ${groupOf} AS "group", me.number, head.changes,
    'tasks'::regclass::oid::bigint AS tables,
    NOT EXISTS (${living(groupOf)}
        AND objid::bigint NOT IN (SELECT number FROM replicas WHERE id = ANY ($3)))
      AND NOT EXISTS (SELECT 1 FROM replicas WHERE gone_at IS NULL AND id <> ALL ($3)
        AND seen_at > 'epoch' AND greatest(seen_at, pg_postmaster_start_time()) > ${lately})
      AS "isFirst"
  FROM me, audit_head AS head`;

const firstMark =
  'INSERT INTO audit_marks SELECT $1, events FROM audit_head ON CONFLICT DO NOTHING';

/** Returns the notification channel of a schema's daemons for commits. */
function channelOf(schema: string): string {
  return `holdpoint_${schema}`;
}
