import type { Client } from 'pg';
import { cutOff, endConnection, type PostgresDatabase } from './postgres-database.ts';

/** What is heard of on the connection that a daemon keeps for its life. */
export interface SessionPorts {
  database: PostgresDatabase;
  /** The names of the lock by which others see that this daemon lives. */
  lock: { group: number; number: number };
  replica: string;
  channel: string;
  /** Hears that somebody has committed, or may have while nobody listened; the argument is who, if that is known. */
  onCommit: (replica: string | null) => void;
  /** Hears what time it is at the database, in epoch milliseconds, now and then. */
  onTime: (serverTime: number) => void;
  /** Hears that the database can be asked, or cannot. */
  onConnected: (isConnected: boolean) => void;
}

/** Milliseconds between two tries to connect, at first and at most. */
const pause = { first: 100, most: 2_000 };

/** Others may have given this daemon up, and deleted its row after a while. */
const stillHere = `INSERT INTO replicas (number, id) OVERRIDING SYSTEM VALUE VALUES ($1, $2)
  ON CONFLICT (id) DO UPDATE SET gone_at = NULL, seen_at = now()`;

/** How often somebody looks for commits that nobody told of, and asks for the time, in milliseconds. */
const lookEvery = 5_000;

/**
 * The connection that a daemon keeps: it hears of commits there, and holds the lock that PostgreSQL lets go of with it.
 * It comes back by itself.
 */
export class ReplicaSession {
  readonly #ports: SessionPorts;
  #client: Client | null = null;
  #timer: NodeJS.Timeout;
  #isOver = false;
  #connectedAt = 0;
  /** What time it was at the database when this process began, by the last look at it, in epoch milliseconds. */
  #origin = 0;

  private constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.#timer = setInterval(() => void this.#look(), lookEvery).unref();
  }

  /** Connects for the first time. Rejects with the driver's error. */
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

  /** Ends the connection, and with it the lock. */
  async close(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#timer);
    if (this.#client !== null) await endConnection(this.#client);
  }

  async #connect(isFirst: boolean): Promise<void> {
    const { database, onConnected, onCommit } = this.#ports;
    const client = await database.connect();
    try {
      await this.#prepare(client, isFirst);
    } catch (error) {
      cutOff(client);
      throw error;
    }
    // It was closed while it came back.
    if (this.#isOver) return endConnection(client);
    this.#client = client;
    this.#connectedAt = performance.now();
    client.on('end', () => this.#ended(client));
    onConnected(true);
    onCommit(null);
  }

  async #prepare(client: Client, isFirst: boolean): Promise<void> {
    const { lock, replica, channel, onCommit } = this.#ports;
    client.on('notification', ({ payload }) => onCommit(payload ?? null));
    // Idle is what it is for.
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
    await client.query(`LISTEN "${channel}"`);
    await client.query('SELECT pg_advisory_lock($1, $2)', [lock.group, lock.number]);
    // The first connection is there before this daemon can be seen.
    if (!isFirst) await client.query(stillHere, [lock.number, replica]);
    await this.#tellTime(client);
  }

  async #look(): Promise<void> {
    const client = this.#client;
    if (client === null) return;
    const { lock, replica } = this.#ports;
    await this.#tellTime(client)
      .then(() => client.query(stillHere, [lock.number, replica]))
      .catch(() => cutOff(client));
    this.#ports.onCommit(null);
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

  #ended(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    if (this.#isOver) return;
    this.#ports.onConnected(false);
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    for (let wait = pause.first; !this.#isOver; wait = Math.min(wait * 2, pause.most)) {
      try {
        return await this.#connect(false);
      } catch {
        await new Promise((next) => setTimeout(next, wait).unref());
      }
    }
  }
}
