import type { DatabaseSync } from 'node:sqlite';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { AuditOpening, AuditRecovery } from '../store/audit-opening.ts';
import { damagedStore, isDamage, type StoreError } from '../store/store-error.ts';
import { rowOf } from '../store/task-row.ts';
import {
  replayTime,
  type TaskStore,
  type TaskWrite,
  UnrecordedError,
  UnsavableError,
} from '../store/task-store.ts';
import { AuditFile, type AuditFileOptions } from './audit-file.ts';
import { checkBeside } from './check-beside.ts';
import { isCheckedLater, openDatabase } from './database.ts';
import { inTransaction } from './in-transaction.ts';
import { SqliteAcsSessions } from './sqlite-acs-sessions.ts';
import { SqliteApprovalRows } from './sqlite-approval-rows.ts';
import { SqliteChannelNameRows } from './sqlite-channel-name-rows.ts';
import { SqliteConversationRows } from './sqlite-conversation-rows.ts';
import { SqliteDelegations } from './sqlite-delegations.ts';
import { SqliteGrants } from './sqlite-grants.ts';
import { SqliteKeyRows } from './sqlite-key-rows.ts';
import type { SqliteLedger } from './sqlite-ledger.ts';
import { SqlitePushRows } from './sqlite-push-rows.ts';
import { SqliteReleaseRows } from './sqlite-release-rows.ts';
import { SqliteTaskRows } from './sqlite-task-rows.ts';
import { SqliteWebRecords } from './sqlite-web-records.ts';
import { SqliteWebSessions } from './sqlite-web-sessions.ts';

interface PendingSave {
  collect: () => TaskWrite;
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

export interface SqliteStoreOptions {
  path: string;
  /** Called once if the file is found to be damaged during use; the message is worded for people. */
  onDamaged?: (error: StoreError) => void;
  audit: Omit<AuditFileOptions, 'database'> & {
    /** Receives the bytes of each commit's log lines once it is on disk; complete lines, in order. */
    onCommitted?: (lines: Uint8Array) => void;
  };
}

/** Interval at which the audit file is flushed, in milliseconds; keeps the outbox short. */
const syncEvery = 1_000;

/** Interval of log checkpoints, in milliseconds (docs/contract/audit.md). */
const checkpointEvery = 300_000;

/**
 * Stores tasks together with their audit events atomically. All saves of one event-loop turn share a commit; a save
 * resolves when the commit is on disk.
 */
export class SqliteStore implements TaskStore {
  readonly rows: SqliteTaskRows;
  /** Receivers of push notifications. */
  readonly push: SqlitePushRows;
  /** Approval notices. */
  readonly approvals: SqliteApprovalRows;
  /** Releases that saved tasks, by version of the task chart. */
  readonly releases: SqliteReleaseRows;
  /** Chat messages to the agent. */
  readonly conversations: SqliteConversationRows;
  /** Channels to which chat names first resolved. */
  readonly channelNames: SqliteChannelNameRows;
  /** Random keys of the agent, by purpose. */
  readonly keys: SqliteKeyRows;
  /** Sessions of the Agent Control Standard. */
  readonly acsSessions: SqliteAcsSessions;
  readonly delegations: SqliteDelegations;
  readonly grants: SqliteGrants;
  /** Sessions of the approvals page. */
  readonly webSessions: SqliteWebSessions;
  /** Records of the approvals page, such as passkeys. */
  readonly webRecords: SqliteWebRecords;
  /** Remedy for a store that cannot be written. */
  readonly remedy = 'free disk space and try again';
  onCommit: (milliseconds: number) => void = () => undefined;
  /** The calls that count for limits, effects, and outcomes that nobody knows. */
  readonly ledger: SqliteLedger;
  readonly #database: DatabaseSync;
  readonly #audit: AuditFile;
  readonly #onCommitted: (lines: Uint8Array) => void;
  readonly #timers: NodeJS.Timeout[];
  readonly #closing = new AbortController();
  #saves = new Map<string, PendingSave>();
  #loose: Loose[] = [];
  #scheduled = false;
  #failure: Error | null = null;
  #damage: StoreError | null = null;
  #synced: number;

  private constructor(
    database: DatabaseSync,
    audit: AuditFile,
    onCommitted: (lines: Uint8Array) => void = () => undefined,
  ) {
    this.#database = database;
    this.#audit = audit;
    this.#synced = audit.events;
    this.#onCommitted = onCommitted;
    this.rows = new SqliteTaskRows(database);
    this.push = new SqlitePushRows(database);
    this.approvals = new SqliteApprovalRows(database);
    this.releases = new SqliteReleaseRows(database);
    this.conversations = new SqliteConversationRows(database);
    this.channelNames = new SqliteChannelNameRows(database);
    this.keys = new SqliteKeyRows(database);
    this.acsSessions = new SqliteAcsSessions(database);
    this.delegations = new SqliteDelegations(database);
    this.grants = new SqliteGrants(database);
    this.webSessions = new SqliteWebSessions(database);
    this.webRecords = new SqliteWebRecords(database);
    this.ledger = this.rows.ledger;
    this.ledger.commitWith = (write) => this.#record({ events: [], write });
    this.#publish(audit.opening.lines);
    this.#timers = [
      setInterval(() => this.#sync(), syncEvery).unref(),
      setInterval(() => this.checkpoint(), checkpointEvery).unref(),
    ];
  }

  /** Opens the store of an agent. Throws StoreError when it cannot be used. */
  static async open({ path, audit, onDamaged }: SqliteStoreOptions): Promise<SqliteStore> {
    const isUnchecked = isCheckedLater(path);
    const database = openDatabase(path);
    try {
      const file = await AuditFile.open({ ...audit, database });
      const store = new SqliteStore(database, file, audit.onCommitted);
      database.onDamage = (error) => store.#takeDamage(damagedStore(path, error), onDamaged);
      if (isUnchecked) store.#lookThrough(path, onDamaged);
      return store;
    } catch (error) {
      database.close();
      throw isDamage(error) ? damagedStore(path, error) : error;
    }
  }

  /** The damage found by a read or write; `null` if none was found. */
  get damage(): StoreError | null {
    return this.#damage;
  }

  /** Number of committed log lines whose file may not be on disk yet. */
  get unsynced(): number {
    return this.#audit.events - this.#synced;
  }

  /** Repairs made when the store was opened. */
  get recovery(): AuditRecovery {
    return this.#audit.recovery;
  }

  /** Findings of opening the store: it was older than its log, or lost. */
  get opening(): AuditOpening {
    return this.#audit.opening;
  }

  /** Saves a task with the next commit, after a save of it that is pending. Rejects as the port does. */
  save(id: string, collect: () => TaskWrite): Promise<void> {
    const pending = this.#saves.get(id);
    if (pending !== undefined) {
      return pending.promise.catch(() => undefined).then(() => this.save(id, collect));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#saves.set(id, { collect, promise, resolve, reject });
    this.#schedule();
    return promise;
  }

  /** Records events that belong to no task change. Rejects with UnrecordedError. */
  record(events: readonly AuditEvent[]): Promise<void> {
    return this.#record({ events, write: null });
  }

  #record(loose: Pick<Loose, 'events' | 'write'>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#loose.push({ ...loose, resolve, reject });
    this.#schedule();
    return promise;
  }

  /** Commits pending work now. Resolves with the disk error, or `null`. */
  async flush(): Promise<Error | null> {
    return this.#flush();
  }

  #flush(): Error | null {
    const saves = this.#saves;
    const loose = this.#loose;
    this.#saves = new Map();
    this.#loose = [];
    this.#scheduled = false;
    try {
      if (this.#damage !== null) throw this.#damage;
      const began = performance.now();
      const refused = this.#commit(saves, loose);
      this.onCommit(performance.now() - began);
      const { failure } = this.#audit;
      this.#failure = failure === null ? null : unrecorded(failure);
      for (const { resolve } of loose) resolve();
      for (const [id, { resolve, reject }] of saves) {
        const reason = refused.get(id);
        if (reason === undefined) resolve();
        else reject(reason);
      }
      return this.#failure;
    } catch (error) {
      this.#failure = unrecorded(error);
      for (const { reject } of loose) reject(this.#failure);
      for (const { reject } of saves.values()) reject(this.#failure);
      return this.#failure;
    }
  }

  /**
   * Returns whether the disk accepts writes. After a failure it tests again, so that freed space is noticed; a damaged
   * file is never writable again.
   */
  isWritable(): boolean {
    if (this.#damage !== null) return false;
    return this.#failure === null || this.#flush() === null;
  }

  /** Deletes final tasks that ended before a time, a bounded number per call; returns how many. */
  async deleteEnded(before: number): Promise<number> {
    const deleted = this.rows.deleteEnded(before, 1_000);
    if (deleted === 0) this.acsSessions.prune(before - replayTime);
    return deleted;
  }

  /** Writes a checkpoint with the next commit, unless nothing was written since the last one. */
  checkpoint(): void {
    this.#audit.requestCheckpoint(new Date().toISOString());
    this.#schedule();
  }

  /** Commits pending work and closes the store. */
  async close(): Promise<void> {
    if (!this.#database.isOpen) return;
    for (const timer of this.#timers) clearInterval(timer);
    this.#closing.abort();
    this.#flush();
    try {
      this.#audit.close();
    } finally {
      this.#database.close();
    }
  }

  #lookThrough(path: string, tell: SqliteStoreOptions['onDamaged']): void {
    checkBeside(path, this.#closing.signal).then(
      (error) => error !== null && this.#takeDamage(error, tell),
      // A check that could not run is ignored: statements that cannot read the file report that themselves.
      () => undefined,
    );
  }

  #takeDamage(error: StoreError, tell: SqliteStoreOptions['onDamaged']): void {
    if (this.#damage !== null) return;
    this.#damage = error;
    tell?.(error);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      if (this.#scheduled) void this.flush();
    });
  }

  /** Returns the refused saves with their reasons; all others are committed. */
  #commit(saves: Map<string, PendingSave>, loose: readonly Loose[]): Map<string, Error> {
    if (this.#audit.isRotationDue()) {
      this.#transact(() => this.#audit.isRotationDue() && this.#audit.finish());
    }
    const refused = new Map<string, Error>();
    this.#transact(() => {
      if (this.#failure !== null) this.#audit.probe();
      const events = loose.flatMap(({ events: given, write }) => write?.() ?? given);
      for (const [id, { collect }] of saves) {
        const write = collected(id, collect);
        if (write instanceof Error) {
          refused.set(id, write);
          continue;
        }
        const more = this.ledger.contradictions(write);
        const error = this.rows.write(write.change);
        if (error === null) events.push(...write.events, ...more);
        else refused.set(id, error);
      }
      this.#audit.append(events);
    });
    return refused;
  }

  #transact(write: () => void): void {
    try {
      inTransaction(this.#database, () => {
        this.#audit.begin();
        write();
      });
    } catch (error) {
      this.rows.rollBack();
      this.#audit.rollBack();
      throw error;
    }
    this.rows.commit();
    this.#publish(this.#audit.committed());
  }

  #publish(lines: Uint8Array | null): void {
    if (lines === null) return;
    try {
      this.#onCommitted(lines);
    } catch {
      // An error of a listener must not make callers believe that nothing was saved.
    }
  }

  #sync(): void {
    // A sync would mark lines as stored that the file does not have yet.
    if (this.#audit.failure !== null) return;
    const { events } = this.#audit;
    this.#audit.sync().then(
      () => {
        this.#synced = events;
      },
      (error: unknown) => {
        this.#failure = new UnrecordedError('the audit log cannot be synced', { cause: error });
      },
    );
  }
}

function unrecorded(cause: unknown): UnrecordedError {
  return new UnrecordedError('the task store cannot be written', { cause });
}

/** Content of a commit other than tasks. */
interface Loose {
  events: readonly AuditEvent[];
  /** A write of the commit, which returns its events; `null` for none. */
  write: (() => readonly AuditEvent[]) | null;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** An error in one task rejects only that task's save. */
function collected(id: string, collect: () => TaskWrite): TaskWrite | UnsavableError {
  try {
    const write = collect();
    rowOf(write.change);
    return write;
  } catch (error) {
    return new UnsavableError(`task ${id} cannot be put together for the disk`, { cause: error });
  }
}
