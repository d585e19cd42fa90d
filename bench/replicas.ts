import { PostgresServer } from '../test/helpers/postgres-server.ts';
import { type Daemon, makeAgentFolder, startDaemon } from './daemon.ts';
import { type Figure, spread } from './figure.ts';
import { Load, type Measured, measure, medianOf } from './load.ts';

/** Rounds of each figure, of which the median counts. */
const rounds = 3;

/** Several daemons of one agent over one PostgreSQL that waits for its disk. */
interface Replicas {
  daemons: Daemon[];
  loads: Load[];
  close(): Promise<void>;
}

async function startReplicas(count: number, connections: number): Promise<Replicas> {
  const server = await PostgresServer.start({ fsync: true });
  const env = { SERVICE_DATABASE_URL: server.url(await server.createDatabase()) };
  const folders = Array.from({ length: count }, () =>
    makeAgentFolder({ more: 'store: {kind: postgres, pool: 10}\n' }),
  );
  const daemons: Daemon[] = [];
  for (const { directory } of folders) daemons.push(await startDaemon(directory, env));
  const loads = daemons.map(({ url }) => new Load(url, connections));
  return {
    daemons,
    loads,
    async close() {
      await Promise.all(loads.map((load) => load.close()));
      await Promise.all(daemons.map((daemon) => daemon.stop()));
      await server.remove();
      for (const { remove } of folders) remove();
    },
  };
}

/** Sends, and tasks parked, released and answered, 64 at once over one, two and three daemons. */
export async function replicaFigures(): Promise<Figure[]> {
  // What the daemons and the database hold open holds this process open no more than they.
  const alive = setInterval(() => undefined, 1_000);
  const figures: Figure[] = [];
  for (const count of [1, 2, 3]) {
    const replicas = await startReplicas(count, 130);
    const at = (index: number): Load => replicas.loads[index % count] as Load;
    const echo = (jobs: number) => measure(64, jobs, (index) => at(index).echo());
    let run = 0;
    const cycles = (jobs: number) => {
      run += 1;
      return measure(64, jobs, (index) => at(index).cycle(`c${run}-${index}`));
    };
    await echo(500);
    await cycles(200);
    const named = `${count} ${count === 1 ? 'daemon' : 'daemons'} over PostgreSQL`;
    figures.push(
      {
        what: `echo sends, 64 at once, ${named}`,
        measured: rate(await median(() => echo(3_000))),
        aim: '',
      },
      {
        what: `park → approve → complete, 64 at once, ${named}`,
        measured: rate(await median(() => cycles(1_500))),
        aim: '',
      },
    );
    if (count === 3) figures.push(await answerFigure(replicas));
    await replicas.close();
  }
  clearInterval(alive);
  return figures;
}

/** From a decision at one daemon to the answer at another, one at a time. */
async function answerFigure({ loads }: Replicas): Promise<Figure> {
  const [held, decided] = loads as [Load, Load];
  const times: number[] = [];
  for (let index = 0; index < 300; index += 1) {
    const id = `a${index}`;
    const answer = held.hold(id);
    await new Promise((next) => setTimeout(next, 20));
    const began = performance.now();
    await Promise.all([decided.approve(id), answer]);
    times.push(performance.now() - began);
  }
  return {
    what: 'a decision at one daemon to the answer at another',
    measured: spread(times),
    aim: '',
  };
}

async function median(run: () => Promise<Measured>): Promise<Measured> {
  const runs: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await run());
  return medianOf(runs);
}

function rate({ perSecond, p50, p99 }: Measured): string {
  return `${Math.round(perSecond).toLocaleString('en')}/s (p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms)`;
}
