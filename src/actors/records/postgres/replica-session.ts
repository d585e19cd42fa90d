import type { Client } from 'pg';
import type { Log } from '../../ports.ts';
import { OutageNotice } from './outage-notice.ts';
import { cutOff, endConnection, inTime, SilenceError } from './postgres-connection.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { isConnectionLost } from './server-failure.ts';
import { type SessionLock, SessionLocks } from './session-lock.ts';

/** What is heard of on the connection that a daemon keeps for its life. */
export interface SessionPorts {
  database: PostgresDatabase;
  /** The names of the lock by which others see that this daemon lives. */
  lock: { group: number; number: number };
  replica: string;
  channel: string;
  /** Where this daemon listens, as JSON; it stands in its row. */
  listens: () => string;
  /** Hears that somebody has committed, or may have while nobody listened; the argument is who, if that is known. */
  onCommit: (replica: string | null) => void;
  /** Hears what time it is at the database, in epoch milliseconds, now and then. */
  onTime: (serverTime: number) => void;
  /** Hears that the database takes writes, or does not. */
  onConnected: (isConnected: boolean) => void;
  log: Log;
}

/** Milliseconds between two tries to connect, at first and at most. */
const pause = { first: 100, most: 2_000 };

/** Others may have given this daemon up, and deleted its row after a while. */
const stillHere = `INSERT INTO replicas (number, id, listens) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET gone_at = NULL, seen_at = now(), listens = $3`;

/** The time in which the least of questions has an answer, in milliseconds; without one the way there is taken for dead. */
const answerPatience = 5_000;

/** Has the server end a connection on which it hears of no look for a while; those before version 14 cannot. */
const endWhenUnheard = `SELECT set_config(name, '15s', false) FROM pg_settings
  WHERE name = 'idle_session_timeout'`;

/** Ends the connection that has the place of this daemon; nobody but this daemon takes it. */
const endHolder = `SELECT pg_terminate_backend(pid) FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND pid <> pg_backend_pid()
    AND classid = $1::int::oid AND objid = $2::int::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** How often somebody looks for commits that nobody told of, and asks for the time, in milliseconds. */
const lookEvery = 5_000;

/**
 * The connection that a daemon keeps: it hears of commits there, and has the locks that PostgreSQL lets go of with it.
 * It comes back by itself.
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
  /** What was told last of whether the database can be asked. */
  #isConnected = false;
  #connectedAt = 0;
  /** What time it was at the database when this process began, by the last look at it, in epoch milliseconds. */
  #origin = 0;

  private constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.#outage = new OutageNotice({
      log: ports.log,
      begins: 'store: the database takes no writes',
      ends: 'store: the database takes writes again',
      explain: (error) => ports.database.explain(error),
    });
    this.#timer = setInterval(() => void this.#look(), lookEvery).unref();
  }

  /** Connects for the first time. Rejects with UnconnectedError, or the driver's error. */
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

  /** Milliseconds for which the connection has been there; 0 while it is not. */
  get age(): number {
    return this.#client === null ? 0 : performance.now() - this.#connectedAt;
  }

  /** What time it is at the database, in epoch milliseconds. */
  get serverTime(): number {
    return this.#origin + performance.now();
  }

  /** Takes a lock that one daemon alone can have; `null` while another one has it, or the connection is gone. Rejects with the driver's error, or SilenceError. */
  async lock(name: string): Promise<SessionLock | null> {
    const client = this.#client;
    if (client === null || this.#locks === null) return null;
    try {
      return await inTime(this.#locks.take(name), answerPatience);
    } catch (error) {
      // Nobody would know of a lock that is given later.
      if (error instanceof SilenceError) this.#refused(client, error);
      throw error;
    }
  }

  /** Ends the connection, and with it its locks. */
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
    // It was closed while it came back.
    if (this.#isOver) return endConnection(client);
    this.#client = client;
    this.#locks = new SessionLocks(client);
    this.#connectedAt = performance.now();
    client.on('end', () => this.#lost(client));
    // The first connection is there before this daemon can be seen.
    if (isFirst) this.#accepted();
    else await this.#look();
  }

  async #prepare(client: Client): Promise<void> {
    const { lock, channel, onCommit } = this.#ports;
    client.on('notification', ({ payload }) => onCommit(payload ?? null));
    // Idle is what it is for, as long as this daemon looks.
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
    await client.query(endWhenUnheard);
    await client.query(`LISTEN "${channel}"`);
    const place = [lock.group, lock.number];
    // The server may not know yet that the connection before is gone.
    await client.query(endHolder, place);
    await client.query('SELECT pg_advisory_lock($1, $2)', place);
    await this.#tellTime(client);
  }

  /** Gives a sign of life, and asks for the time and for commits that nobody told of. */
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

  /** A server that answers and takes nothing has the lock; one that is lost, or only follows another, has not. */
  #refused(client: Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#outage.failed(error);
    // What goes no way here goes none on other connections either, and each would have to find out for itself.
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
      // It may be lost again by what it was asked first.
      if (this.#client !== null) break;
      await new Promise((next) => setTimeout(next, wait).unref());
    }
    this.#isComingBack = false;
  }
}
