import type { Client } from 'pg';
import type { Log } from '../../ports/log.ts';
import { OutageNotice } from './outage-notice.ts';
import { cutOff, endConnection, inTime, SilenceError } from './postgres-connection.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { isConnectionLost } from './server-failure.ts';
import { type SessionLock, SessionLocks } from './session-lock.ts';

/** Ports of a daemon's permanent connection. */
export interface SessionPorts {
  database: PostgresDatabase;
  /** Key of the lock that shows other daemons that this one is alive. */
  lock: { group: number; number: number };
  replica: string;
  channel: string;
  /** Returns this daemon's listening addresses as JSON, stored in its row. */
  listens: () => string;
  /** Called after a commit, or when one may have been missed; the argument is the committing daemon, if known. */
  onCommit: (replica: string | null) => void;
  /** Called periodically with the database time, in epoch milliseconds. */
  onTime: (serverTime: number) => void;
  /** Called when the database becomes available or unavailable for writes. */
  onConnected: (isConnected: boolean) => void;
  log: Log;
}

/** Initial and maximum pause between two connection attempts, in milliseconds. */
const pause = { first: 100, most: 2_000 };

/** Inserts this daemon's row again, since other daemons may have considered it dead and deleted the row. */
const stillHere = `INSERT INTO replicas (number, id, listens) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET gone_at = NULL, seen_at = now(), listens = $3`;

/** Timeout of a trivial query in milliseconds; without an answer the connection counts as dead. */
const answerPatience = 5_000;

/** Makes the server end a connection without regular queries; unsupported before PostgreSQL 14. */
const endWhenUnheard = `SELECT set_config(name, '15s', false) FROM pg_settings
  WHERE name = 'idle_session_timeout'`;

/** Ends the connection that holds this daemon's lock; only an earlier connection of this daemon can hold it. */
const endHolder = `SELECT pg_terminate_backend(pid) FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND pid <> pg_backend_pid()
    AND classid = $1::int::oid AND objid = $2::int::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Interval at which missed commits and the database time are polled, in milliseconds. */
const lookEvery = 5_000;

/**
 * The daemon's permanent connection: it receives commit notifications and holds locks that PostgreSQL releases with it.
 * Reconnects automatically.
 */
export class ReplicaSession {
  readonly #ports: SessionPorts;
  readonly #outage: OutageNotice;
  #client: Client | null = null;
  #locks: SessionLocks | null = null;
  #timer: NodeJS.Timeout;
  #isOver = false;
  #isLooking = false;
  #isComingBack = false;
  /** The availability reported last. */
  #isConnected = false;
  #connectedAt = 0;
  /** Database time at the start of this process, from the last query, in epoch milliseconds. */
  #origin = 0;

  private constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.#outage = new OutageNotice({
      log: ports.log,
      begins: 'store: the database rejects writes',
      ends: 'store: the database accepts writes again',
      explain: (error) => ports.database.explain(error),
    });
    this.#timer = setInterval(() => void this.#look(), lookEvery).unref();
  }

  /** Opens the first connection. Rejects with UnconnectedError, or the driver's error. */
  static async open(ports: SessionPorts): Promise<ReplicaSession> {
    const session = new ReplicaSession(ports);
    try {
      await session.#connect(true);
      return session;
    } catch (error) {
      clearInterval(session.#timer);
      throw error;
    }
  }

  /** Milliseconds since the connection was established; 0 without one. */
  get age(): number {
    return this.#client === null ? 0 : performance.now() - this.#connectedAt;
  }

  /** Current database time, in epoch milliseconds. */
  get serverTime(): number {
    return this.#origin + performance.now();
  }

  /**
   * Acquires a lock that only one daemon can hold; `null` while another one holds it, or without a connection. Rejects
   * with the driver's error, or SilenceError.
   */
  async lock(name: string): Promise<SessionLock | null> {
    const client = this.#client;
    if (client === null || this.#locks === null) return null;
    try {
      return await inTime(this.#locks.take(name), answerPatience);
    } catch (error) {
      // A lock granted later would remain unnoticed, so the connection is dropped.
      if (error instanceof SilenceError) this.#refused(client, error);
      throw error;
    }
  }

  /** Closes the connection, which releases its locks. */
  async close(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#locks?.lose();
    if (this.#client !== null) await endConnection(this.#client);
  }

  async #connect(isFirst: boolean): Promise<void> {
    const client = await this.#ports.database.connect();
    try {
      await this.#prepare(client);
    } catch (error) {
      cutOff(client);
      throw error;
    }
    // Closed during the reconnection.
    if (this.#isOver) return endConnection(client);
    this.#client = client;
    this.#locks = new SessionLocks(client);
    this.#connectedAt = performance.now();
    client.on('end', () => this.#lost(client));
    // The first connection precedes this daemon's row, so there is nothing to check yet.
    if (isFirst) this.#accepted();
    else await this.#look();
  }

  async #prepare(client: Client): Promise<void> {
    const { lock, channel, onCommit } = this.#ports;
    client.on('notification', ({ payload }) => onCommit(payload ?? null));
    // This connection is meant to be idle; the regular query keeps it alive.
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
    await client.query(endWhenUnheard);
    await client.query(`LISTEN "${channel}"`);
    const place = [lock.group, lock.number];
    // The server may not have noticed yet that the previous connection is gone.
    await client.query(endHolder, place);
    await client.query('SELECT pg_advisory_lock($1, $2)', place);
    await this.#tellTime(client);
  }

  /** Updates this daemon's row, and queries the time and missed commits. */
  async #look(): Promise<void> {
    const client = this.#client;
    if (client === null || this.#isLooking) return;
    this.#isLooking = true;
    const { lock, replica, listens } = this.#ports;
    try {
      await inTime(this.#tellTime(client), answerPatience);
      await client.query(stillHere, [lock.number, replica, listens()]);
      if (this.#client === client) this.#accepted();
    } catch (error) {
      this.#refused(client, error);
    } finally {
      this.#isLooking = false;
    }
  }

  #accepted(): void {
    this.#outage.worked();
    this.#tell(true);
    this.#ports.onCommit(null);
  }

  /** A server that answers but refuses writes still holds the lock; a lost server or a standby does not. */
  #refused(client: Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#outage.failed(error);
    // If this connection is dead, so are the pooled ones; dropping them saves each its own timeout.
    if (error instanceof SilenceError) this.#ports.database.cutOff();
    if (!isConnectionLost(error)) {
      this.#tell(false);
      setTimeout(() => void this.#look(), pause.most).unref();
      return;
    }
    this.#lost(client);
    cutOff(client);
  }

  #tell(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    this.#ports.onConnected(isConnected);
  }

  async #tellTime(client: Client): Promise<void> {
    const before = performance.now();
    const { rows } = await client.query<{ at: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at',
    );
    const at = rows[0]?.at;
    if (at === undefined) return;
    this.#origin = at - (before + performance.now()) / 2;
    this.#ports.onTime(this.serverTime);
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#locks?.lose();
    this.#locks = null;
    if (this.#isOver) return;
    this.#tell(false);
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    if (this.#isComingBack) return;
    this.#isComingBack = true;
    for (let wait = pause.first; !this.#isOver; wait = Math.min(wait * 2, pause.most)) {
      await this.#connect(false).catch((error: unknown) => this.#outage.failed(error));
      // The first query may already have lost the connection again.
      if (this.#client !== null) break;
      await new Promise((next) => setTimeout(next, wait).unref());
    }
    this.#isComingBack = false;
  }
}
