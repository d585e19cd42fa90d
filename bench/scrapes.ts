import { PostgresServer } from '../test/helpers/postgres-server.ts';
import { get } from './connections.ts';
import { makeAgentFolder, startDaemon, writeAgent } from './daemon.ts';
import { type Figure, spread } from './figure.ts';
import { fillTasks } from './lists.ts';
import { Load, measure } from './load.ts';
import { copyStore } from './parked-million.ts';

/** Scrapes of a daemon over 100,000 tasks, and an answer behind eight of them, in a file and in PostgreSQL. */
export async function scrapeFigures(): Promise<Figure[]> {
  const alive = setInterval(() => undefined, 1_000);
  const { directory, remove } = makeAgentFolder();
  fillTasks(directory);
  const sqlite = await measured('SQLite', directory, {});
  const server = await PostgresServer.start({ fsync: true });
  const database = await server.createDatabase();
  const env = { SERVICE_DATABASE_URL: server.url(database) };
  writeAgent(directory, { more: 'store: {kind: postgres}\n' });
  await copyStore(directory, env);
  await server.query('ANALYZE', [], database);
  const postgres = await measured('PostgreSQL', directory, env);
  await server.remove();
  remove();
  clearInterval(alive);
  return [...sqlite, ...postgres];
}

async function measured(
  store: string,
  directory: string,
  env: Record<string, string>,
): Promise<Figure[]> {
  const daemon = await startDaemon(directory, env);
  const load = new Load(daemon.url, 8);
  await measure(8, 200, () => load.echo());
  await load.close();
  const scrape = () => timed(`${daemon.url}/metrics`);
  const first = await scrape();
  const alone: number[] = [];
  for (let round = 0; round < 100; round += 1) alone.push(await scrape());
  const before = await daemon.cpu();
  for (let round = 0; round < 100; round += 1) await scrape();
  const cpu = ((await daemon.cpu()) - before) / 100;
  const behind: number[] = [];
  for (let round = 0; round < 100; round += 1) {
    const together = Array.from({ length: 8 }, scrape);
    behind.push(await timed(`${daemon.url}/healthz`));
    await Promise.all(together);
  }
  await daemon.stop();
  const what = `GET /metrics, 100,000 tasks, ${store}`;
  return [
    {
      what,
      measured: `${spread(alone)}, ${cpu.toFixed(1)} ms of CPU; the first ${first.toFixed(0)} ms`,
      aim: '20 ms',
    },
    { what: `${what}: /healthz behind 8 of them`, measured: spread(behind), aim: '20 ms' },
  ];
}

async function timed(url: string): Promise<number> {
  const began = performance.now();
  const { status, text } = await get(url);
  if (status !== 200) throw new Error(`${url}: ${status} ${text}`);
  return performance.now() - began;
}
