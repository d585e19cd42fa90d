import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PostgresServer } from '../test/helpers/postgres-server.ts';
import { type Daemon, makeAgentFolder, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { Load, percentile } from './load.ts';

const million = 1_000_000;

/** The task that is parked for real; the others are rows like its own. */
const first = 'parked-0';

/** The columns of a row but its position, and what each is in a copy; `$i` numbers the copies. */
const columns: Record<string, string> = {
  id: `replace(id, '${first}', 'parked-' || $i)`,
  state: 'state',
  revision: 'revision',
  changed_at: 'changed_at',
  deadline_at: 'deadline_at',
  deferral_id: "deferral_id || '-' || $i",
  machine_version: 'machine_version',
  audit_seq: 'audit_seq',
  started_call: 'started_call',
  task: `replace(replace(task, '${first}', 'parked-' || $i), deferral_id, deferral_id || '-' || $i)`,
  snapshot: `replace(replace(snapshot, '${first}', 'parked-' || $i), deferral_id, deferral_id || '-' || $i)`,
  context_id: 'context_id',
  contents: 'contents',
  owner_org: 'owner_org',
  owner: 'owner',
};

function copying(table: string, numbers: string, number: string): string {
  const values = Object.values(columns).map((value) => value.replaceAll('$i', number));
  return `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) SELECT ${values.join(', ')} FROM ${table} seed, ${numbers} WHERE seed.id = '${first}'`;
}

/** A million parked tasks, copied from one that was parked: the start, memory, lists and decisions of a daemon over them. */
export async function parkedMillionFigures(): Promise<Figure[]> {
  return [...(await overSqlite()), ...(await overPostgres())];
}

async function overSqlite(): Promise<Figure[]> {
  const { directory, remove } = makeAgentFolder();
  await parkFirst(directory);
  const file = join(directory, '.service/tasks.db');
  const database = new DatabaseSync(file);
  database.exec(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${million - 1}) ${copying('tasks', 'n', 'n.i')}`,
  );
  database.close();
  const size = statSync(file).size;
  const figures = await measured('SQLite', directory, {}, size);
  remove();
  return figures;
}

async function overPostgres(): Promise<Figure[]> {
  const alive = setInterval(() => undefined, 1_000);
  const server = await PostgresServer.start({ fsync: true });
  const name = await server.createDatabase();
  const env = { SERVICE_DATABASE_URL: server.url(name) };
  const { directory, remove } = makeAgentFolder({ more: 'store: {kind: postgres}\n' });
  await parkFirst(directory, env);
  const series = `generate_series(1, ${million - 1}) n`;
  await server.query(copying('holdpoint.tasks', series, 'n'), [], name);
  await server.query('ANALYZE', [], name);
  const [row] = await server.query('SELECT pg_database_size($1) AS size', [name], name);
  const figures = await measured('PostgreSQL', directory, env, Number(row?.['size']));
  await server.remove();
  remove();
  clearInterval(alive);
  return figures;
}

async function parkFirst(directory: string, env: Record<string, string> = {}): Promise<void> {
  const daemon = await startDaemon(directory, env);
  const load = new Load(daemon.url, 2);
  const leave = new AbortController();
  load.hold(first, leave.signal).catch(() => undefined);
  await untilParked(daemon);
  // The daemon stops with it parked.
  await daemon.stop();
  await load.close();
}

async function untilParked({ url }: Daemon): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/tasks/${first}`);
    const body = (await answer.json()) as { status?: { state: string } };
    if (body.status?.state === 'deferred') return;
  }
}

async function measured(
  store: string,
  directory: string,
  env: Record<string, string>,
  size: number,
): Promise<Figure[]> {
  const clean = await startDaemon(directory, env);
  process.kill(clean.pid, 'SIGKILL');
  const daemon = await startDaemon(directory, env);
  const { heap, resident } = await daemon.memory();
  const lists = await times(20, () => fetch(`${daemon.url}/tasks?state=deferred&limit=50`));
  const load = new Load(daemon.url, 4);
  const decisions = await times(200, (index) => load.approve(`parked-${1 + index * 4_999}`));
  await load.close();
  await daemon.stop();
  const mebi = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;
  const all = `1,000,000 parked, ${store}`;
  return [
    {
      what: `${all}: ready after kill -9`,
      measured: `${(daemon.readyAfter / 1_000).toFixed(1)} s`,
      aim: '5 s',
    },
    { what: `${all}: heap, resident`, measured: `${mebi(heap)}, ${mebi(resident)}`, aim: '1 GiB' },
    { what: `${all}: size of the database`, measured: mebi(size), aim: '' },
    { what: `${all}: a page of 50 that wait`, measured: spread(lists), aim: '' },
    { what: `${all}: a decision`, measured: spread(decisions), aim: '' },
  ];
}

async function times(count: number, run: (index: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    await run(index);
    taken.push(performance.now() - began);
  }
  return taken.toSorted((one, other) => one - other);
}

function spread(sorted: readonly number[]): string {
  return `p50 ${percentile(sorted, 0.5).toFixed(1)} ms, p99 ${percentile(sorted, 0.99).toFixed(1)} ms`;
}
