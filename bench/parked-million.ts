import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PostgresServer } from '../test/helpers/postgres-server.ts';
import { get } from './connections.ts';
import { makeAgentFolder, startDaemon, untilDeferred, writeAgent } from './daemon.ts';
import { type Figure, mebibytes, spread } from './figure.ts';
import { Load } from './load.ts';
import { fillSqlite, firstParked, inPostgres, inSqlite, type ParkedRows } from './parked-rows.ts';

const million = 1_000_000;

/** Tasks that fall due in one minute, and that minute in milliseconds. */
const due = 100_000;
const minute = 60_000;

/** Milliseconds until the first of them is due, of which bringing the deadlines forward takes a part. */
const lead = 60_000;

/**
 * A million parked tasks, copied from one that was parked: the start, memory, lists and decisions of a daemon over
 * them, and a minute in which a tenth of them falls due; in a file, then copied to PostgreSQL.
 */
export async function parkedMillionFigures(): Promise<Figure[]> {
  const alive = setInterval(() => undefined, 1_000);
  const { directory, remove } = makeAgentFolder();
  await parkFirst(directory);
  fillSqlite(join(directory, '.service/tasks.db'), million);
  const sqlite = await measured('SQLite', directory, {}, inSqlite(directory), due + 1);
  const server = await PostgresServer.start({ fsync: true });
  const database = await server.createDatabase();
  const env = { SERVICE_DATABASE_URL: server.url(database) };
  writeAgent(directory, { more: 'store: {kind: postgres}\n' });
  const began = performance.now();
  await copyStore(directory, env);
  const copying = {
    what: '1,000,000 parked: `store copy` from SQLite to PostgreSQL',
    measured: `${Math.round((performance.now() - began) / 1_000)} s`,
    aim: '',
  };
  await server.query('ANALYZE', [], database);
  const postgres = await measured(
    'PostgreSQL',
    directory,
    env,
    inPostgres(server, database),
    due * 2 + 1_001,
  );
  await server.remove();
  remove();
  clearInterval(alive);
  return [...sqlite, copying, ...postgres];
}

/** Copies the store of a folder to PostgreSQL. */
export async function copyStore(directory: string, env: Record<string, string>): Promise<void> {
  const from = join(directory, '.service/tasks.db');
  const command = ['src/cli.ts', 'store', 'copy', '--dir', directory, '--from', from];
  const copy = spawn(process.execPath, command, {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  const [code] = await once(copy, 'exit');
  if (code !== 0) throw new Error('the store was not copied');
}

async function parkFirst(directory: string): Promise<void> {
  const daemon = await startDaemon(directory);
  const load = new Load(daemon.url, 2);
  const leave = new AbortController();
  load.hold(firstParked, leave.signal).catch(() => undefined);
  await untilDeferred(daemon, firstParked);
  // The daemon stops with it parked.
  await daemon.stop();
  await load.close();
}

/** @param decided the number of the first task that is decided; those with lower ones are to fall due */
async function measured(
  store: string,
  directory: string,
  env: Record<string, string>,
  rows: ParkedRows,
  decided: number,
): Promise<Figure[]> {
  const size = await rows.size();
  const clean = await startDaemon(directory, env);
  process.kill(clean.pid, 'SIGKILL');
  const daemon = await startDaemon(directory, env);
  const { heap, resident } = await daemon.memory();
  const lists = await times(20, () => get(`${daemon.url}/tasks?state=deferred&limit=50`));
  const load = new Load(daemon.url, 4);
  const decisions = await times(200, (index) => load.approve(`parked-${decided + index * 4_000}`));
  await load.close();
  await daemon.stop();
  const all = `1,000,000 parked, ${store}`;
  return [
    {
      what: `${all}: ready after kill -9`,
      measured: `${(daemon.readyAfter / 1_000).toFixed(1)} s`,
      aim: '5 s',
    },
    {
      what: `${all}: heap, resident`,
      measured: `${mebibytes(heap)}, ${mebibytes(resident)}`,
      aim: '1 GiB',
    },
    { what: `${all}: size of the database`, measured: mebibytes(size), aim: '' },
    { what: `${all}: a page of 50 that wait`, measured: spread(lists), aim: '' },
    { what: `${all}: a decision`, measured: spread(decisions), aim: '' },
    ...(await fallingDue(all, directory, env, rows)),
  ];
}

/** A minute in which many fall due: how late the last one ended, and what others who ask wait meanwhile. */
async function fallingDue(
  all: string,
  directory: string,
  env: Record<string, string>,
  rows: ParkedRows,
): Promise<Figure[]> {
  const first = Date.now() + lead;
  await rows.bringForward(due, first, minute);
  const daemon = await startDaemon(directory, env);
  const begun = first - Date.now();
  if (begun < 0) throw new Error(`the first was due ${-begun} ms before the daemon was ready`);
  const answers: number[] = [];
  while (Date.now() < first || (await rows.left(first + minute)) > 0) {
    for (let asked = 0; asked < 10; asked += 1) {
      answers.push(...(await times(1, () => get(`${daemon.url}/readyz`))));
      await pause(50);
    }
  }
  const late = Date.now() - first - minute;
  const { heap, resident } = await daemon.memory();
  await daemon.stop();
  const what = `${all}, 100,000 of them due within a minute`;
  return [
    {
      what: `${what}: the last one ended`,
      measured: `${(late / 1_000).toFixed(1)} s late`,
      aim: '',
    },
    {
      what: `${what}: \`GET /readyz\` every 50 ms meanwhile`,
      measured: spread(answers),
      aim: '',
    },
    {
      what: `${what}: heap, resident`,
      measured: `${mebibytes(heap)}, ${mebibytes(resident)}`,
      aim: '1 GiB',
    },
  ];
}

async function times(count: number, run: (index: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    await run(index);
    taken.push(performance.now() - began);
  }
  return taken;
}
