import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../bench/peers/free-port.ts';
import { patient } from './patient.ts';
import {
  emptyData,
  giveToServer,
  postgresPrograms,
  runAsServer,
  serverFolder,
  serverUser,
} from './postgres-programs.ts';

/** How a server is run. */
export interface ServerOptions {
  /** True waits for the disk at each commit; false unless said otherwise. */
  fsync?: boolean;
  /** Where its folder is made; with the temporary files unless said otherwise. */
  parent?: string;
  /** How many connections it takes; 200 unless said otherwise. */
  connections?: number;
  /** What is set besides, such as `max_connections=20`. */
  settings?: readonly string[];
}

/** The end of a server: it disconnects its clients, or stops as in a crash. */
export type StopMode = 'fast' | 'immediate';

/** A row as the driver reads it. */
type Row = Record<string, unknown>;

/**
 * Runs a server and ends it, and removes its folder, once the pipe on its input is closed: by who started it, or by the end
 * of that process, however that came.
 */
const guard = `
  exec 3<&0
  "$@" 3<&- </dev/null &
  server=$!
  { cat <&3 >/dev/null; trap '' TERM; kill -QUIT $server; while kill -0 $server; do sleep 0.05; done; rm -rf "$FOLDER"; } 2>/dev/null &
  watch=$!
  exec 3<&-
  wait $server
  kill $watch 2>/dev/null
`;

/** A PostgreSQL of the tests on a port of loopback; the user `postgres` needs no password there. */
export class PostgresServer {
  readonly port: number;
  /** Where its data are. */
  readonly folder: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | null = null;
  #names = 0;

  private constructor(port: number, folder: string, settings: readonly string[]) {
    this.port = port;
    this.folder = folder;
    this.#settings = settings;
  }

  /** Starts a new server without data. */
  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const { fsync = false, parent, connections = 200, settings: own = [] } = options;
    const template = await emptyData();
    const folder = join(serverFolder('holdpoint-postgres', parent), 'data');
    await runAsServer('cp', ['-R', template, folder]);
    writeFileSync(join(folder, 'pg_hba.conf'), signIns);
    const durable = fsync ? 'on' : 'off';
    const settings = [
      `fsync=${durable}`,
      `full_page_writes=${durable}`,
      `max_connections=${connections}`,
      ...own,
    ];
    const server = new PostgresServer(await freePort(), folder, settings);
    await server.start();
    return server;
  }

  /** Starts the server again, on its port and with its data. */
  async start(): Promise<void> {
    const settings = [...always, ...this.#settings, `port=${this.port}`];
    const parameters = ['-D', this.folder, ...settings.flatMap((setting) => ['-c', setting])];
    const server = spawn(
      'sh',
      ['-c', guard, 'sh', join(postgresPrograms(), 'postgres'), ...parameters],
      {
        ...serverUser(),
        cwd: '/',
        env: { PATH: process.env['PATH'], FOLDER: this.folder },
        stdio: ['pipe', 'ignore', 'pipe'],
        // A signal to the tests from a terminal is theirs alone.
        detached: true,
      },
    );
    this.#process = server;
    const said: string[] = [];
    server.stderr.on('data', (bytes) => said.push(String(bytes)));
    for (const held of [server, server.stdin, server.stderr]) (held as { unref(): void }).unref();
    const latest = Date.now() + patient.timeout;
    while (!(await this.#answers())) {
      if (server.exitCode !== null || Date.now() > latest) {
        throw new Error(`PostgreSQL did not start: ${said.join('')}`);
      }
      await wait(patient.interval);
    }
  }

  /** Stops the server; its data stay. */
  async stop(mode: StopMode = 'fast'): Promise<void> {
    const server = this.#process;
    this.#process = null;
    if (server === null || server.exitCode !== null) return;
    // Nobody else may be left to wait for it.
    server.ref();
    const over = once(server, 'exit');
    process.kill(this.pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await over;
    server.stdin?.destroy();
  }

  /** Stops the server and removes its folder. */
  async remove(): Promise<void> {
    await this.stop('immediate');
    rmSync(dirname(this.folder), { recursive: true, force: true });
  }

  /** False after it was stopped. */
  get isRunning(): boolean {
    return this.#process !== null;
  }

  /** The process of the server. */
  get pid(): number {
    return Number(readFileSync(join(this.folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  /** Returns the address of a database of the server. */
  url(database = 'postgres', user = 'postgres', password?: string): string {
    const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
    return `postgresql://${user}${secret}@127.0.0.1:${this.port}/${database}`;
  }

  /** Makes an empty database; returns its name. */
  async createDatabase(): Promise<string> {
    this.#names += 1;
    const name = `test_${process.pid}_${this.#names}`;
    await this.query(`CREATE DATABASE ${name}`);
    return name;
  }

  /** Removes a database, with its open connections. */
  async dropDatabase(name: string): Promise<void> {
    await this.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }

  /** Connects to a database; the caller ends the connection. */
  async connect(database = 'postgres'): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Runs one statement on a connection of its own. */
  async query(sql: string, values: unknown[] = [], database = 'postgres'): Promise<Row[]> {
    const client = await this.connect(database);
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Cuts the connections to a database, those of a kind when a condition over pg_stat_activity is given; returns how many. */
  async cut(database: string, where = 'true'): Promise<number> {
    const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = $1 AND pid <> pg_backend_pid() AND (${where})`;
    return (await this.query(sql, [database])).length;
  }

  /** Starts a second server that follows this one and answers reads. */
  async standby(): Promise<PostgresServer> {
    const folder = join(serverFolder('holdpoint-postgres'), 'data');
    const client = await this.connect();
    try {
      await client.query(`SELECT pg_backup_start('standby', true)`);
      await runAsServer('sh', ['-c', 'cp -R "$0" "$1" || true', this.folder, folder]);
      const { rows } = await client.query<{ labelfile: string }>(
        'SELECT labelfile FROM pg_backup_stop(false)',
      );
      rmSync(join(folder, 'postmaster.pid'), { force: true });
      rmSync(join(folder, 'postmaster.opts'), { force: true });
      giveToServer(join(folder, 'backup_label'), rows[0]?.labelfile ?? '');
    } finally {
      await client.end();
    }
    giveToServer(join(folder, 'standby.signal'), '');
    const from = `host=127.0.0.1 port=${this.port} user=postgres`;
    appendFileSync(join(folder, 'postgresql.auto.conf'), `primary_conninfo = '${from}'\n`);
    const server = new PostgresServer(await freePort(), folder, this.#settings);
    await server.start();
    return server;
  }

  /** Lets a standby be a server of its own. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(true, 20)');
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }
}

/** Who may sign in: the tests without a password, and others with one. */
const signIns = `
host replication postgres 127.0.0.1/32 trust
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`;

const always = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=32MB',
  'log_min_messages=fatal',
  'wal_level=replica',
];

let shared: Promise<PostgresServer> | null = null;

/** Returns the server that all files of tests of this worker share, which the first of them starts. */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= PostgresServer.start();
  return shared;
}
