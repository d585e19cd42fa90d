import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuTimeOf, cpuTimeOfFamily, familyOf } from './cpu-time.ts';
import { install, versionOf } from './peers/install-peer.ts';
import { type PeerProgram, type PeerServer, startPeer, startServer } from './peers/peer-program.ts';
import {
  medianTurn,
  type Or,
  type Parked,
  type Peer,
  type Race,
  type Turn,
  tablesOf,
} from './peers/peer-tables.ts';

const turns = 3;
const secondsOfTurn = 1.5;

/** Cycles before a turn counts: the first thousand of each Node program take two to four times as much. */
const warmCycles = 500;

/** A slow peer is measured after so many seconds, with fewer cycles. */
const mostSecondsToWarm = 10;
const racedRuns = 20;
const wantedParked = 10_000;
const secondsToPark = 30;

/** After it nothing but runs at rest is in memory: ours leave theirs after three seconds. */
const secondsOfRest = 4;

/** Who is measured, and how it is started. */
interface Subject {
  name: string;
  /** How it waits for the disk, in a few words. */
  durability: string;
  /** Its packages; absent of the product itself. */
  folder?: string;
  program: string;
  /** With the default of its driver, which does not wait for the disk; it is not parked. */
  isRelaxed?: boolean;
  /** `restarts` where the runs live in the server, so that a restart is one of the two. */
  server?: { file: string; restarts: boolean };
}

/** A subject that runs. */
interface Running {
  program: PeerProgram;
  server: PeerServer | null;
  directory: string;
}

/**
 * Runs that wait for an approval, of the product next to those of others: the same work in the same turns, each in a
 * process of its own. Returns the tables and what they mean, as Markdown.
 */
export async function peersSection(): Promise<string> {
  const began = loadavg()[0] ?? 0;
  const subjects = subjectsAt(join(import.meta.dirname, 'peers'));
  const running = new Map<Subject, Or<Running>>();
  const cold = new Map<Subject, Or<Turn>>();
  const peers: Peer[] = [];
  try {
    for (const subject of subjects) {
      const opened = await orReason(() => open(subject));
      running.set(subject, opened);
      cold.set(subject, await orReason(() => turnOf(opened, 1, 1)));
    }
    const one = await inTurns(running, 1);
    const many = await inTurns(running, 64);
    for (const [subject, opened] of running) {
      const { name, durability } = subject;
      const race = await orReason(() => raceOf(opened));
      const of = (turns: ReadonlyMap<Subject, Or<Turn>>) => turns.get(subject) ?? '';
      const measured = { cold: of(cold), one: of(one), many: of(many), race };
      peers.push({ name, durability, ...measured, parked: null });
    }
  } finally {
    for (const opened of running.values()) if (typeof opened !== 'string') await close(opened);
  }
  for (const [index, subject] of subjects.entries()) {
    const peer = peers[index];
    if (peer === undefined || subject.isRelaxed === true) continue;
    peer.parked = await orReason(() => parkMany(subject));
  }
  return sectionOf(tablesOf(peers, wantedParked), [began, loadavg()[0] ?? 0]);
}

function subjectsAt(folder: string): Subject[] {
  const peer = (name: string, packages: string, main: string, durability: string): Subject => ({
    name: `${name} ${versionOf(join(folder, packages), main)}`,
    durability,
    folder: join(folder, packages),
    program: join(folder, packages, 'peer.mjs'),
  });
  const langgraph = peer('LangGraph', 'langgraph', '@langchain/langgraph', 'SQLite, a sync a step');
  return [
    {
      name: 'Holdpoint',
      durability: 'SQLite, a sync a step, and a chained log',
      program: join(folder, 'holdpoint.ts'),
    },
    langgraph,
    { ...langgraph, durability: 'SQLite, no sync: a power cut loses steps', isRelaxed: true },
    peer('Mastra', 'mastra', '@mastra/core', 'libSQL, a sync a step'),
    {
      ...peer('DBOS', 'dbos', '@dbos-inc/dbos-sdk', 'PostgreSQL, a sync a step'),
      server: { file: join(folder, 'dbos/server.mjs'), restarts: false },
    },
    {
      ...peer('Restate', 'restate', '@restatedev/restate-server', 'its own log, synced in batches'),
      server: { file: join(folder, 'restate/server.mjs'), restarts: true },
    },
  ];
}

async function open({ folder, program, isRelaxed, server: own }: Subject): Promise<Running> {
  if (folder !== undefined) await install(folder);
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  let server: PeerServer | null = null;
  try {
    const isFull = isRelaxed !== true;
    if (own !== undefined) server = await startServer(own.file, { directory, server: {}, isFull });
    const start = { directory, server: server?.server ?? {}, isFull };
    return { program: await startPeer(program, start), server, directory };
  } catch (error) {
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** Has a subject do some of the work, so that its code is compiled. */
async function warm(opened: Or<Running>, callers: number): Promise<void> {
  const work = { kind: 'cycle', callers, seconds: mostSecondsToWarm, jobs: warmCycles } as const;
  await runningOf(opened).program.ask(work, mostSecondsToWarm + 30);
}

async function close({ program, server, directory }: Running): Promise<void> {
  await program.kill();
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function inTurns(
  running: ReadonlyMap<Subject, Or<Running>>,
  callers: number,
): Promise<Map<Subject, Or<Turn>>> {
  const measured = new Map<Subject, Or<Turn[]>>();
  for (const [subject, opened] of running) {
    measured.set(subject, await orReason(() => warm(opened, callers).then(() => [])));
  }
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [subject, opened] of running) {
      const before = measured.get(subject);
      if (typeof before !== 'object') continue;
      const next = await orReason(() => turnOf(opened, callers, secondsOfTurn));
      measured.set(subject, typeof next === 'string' ? next : [...before, next]);
    }
  }
  return new Map(
    [...measured].map(([subject, all]) => [
      subject,
      typeof all === 'string' ? all : medianTurn(all),
    ]),
  );
}

async function turnOf(opened: Or<Running>, callers: number, seconds: number): Promise<Turn> {
  const { program, server } = runningOf(opened);
  const cpu = () => cpuTimeOf(program.pid) + (server === null ? 0 : cpuTimeOfFamily(server.pid));
  const before = cpu();
  const { jobs, ...took } = await program.ask({ kind: 'cycle', callers, seconds }, seconds + 30);
  return { perSecond: jobs / took.seconds, cpu: (cpu() - before) / jobs };
}

function raceOf(opened: Or<Running>): Promise<Race> {
  return runningOf(opened).program.ask({ kind: 'race', runs: racedRuns }, 60);
}

async function parkMany(subject: Subject): Promise<Parked> {
  const opened = await open(subject);
  try {
    await warm(opened, 64);
    const before = await restingMemory(opened);
    const { parked, seconds, some } = await opened.program.ask(
      { kind: 'park', callers: 64, runs: wantedParked, seconds: secondsToPark },
      secondsToPark + 30,
    );
    const after = await restingMemory(opened);
    const each = (key: keyof typeof before) => (after[key] - before[key]) / parked;
    return {
      parked,
      seconds,
      heap: each('heap'),
      resident: each('resident'),
      server: opened.server === null ? null : each('server'),
      resumed: await orReason(() => resume(subject, opened, some)),
    };
  } finally {
    await close(opened);
  }
}

async function restingMemory({ program, server }: Running) {
  await new Promise((rested) => setTimeout(rested, secondsOfRest * 1_000));
  return { ...(await program.ask({ kind: 'memory' }, 30)), server: memoryOf(server) };
}

/** Ends a subject, starts it again, and returns the seconds until some of its runs were approved and complete. */
async function resume(
  { program, server: own }: Subject,
  opened: Running,
  ids: readonly string[],
): Promise<number> {
  await opened.program.kill();
  if (own?.restarts === true) await opened.server?.stop();
  const began = performance.now();
  const start = {
    directory: opened.directory,
    server: opened.server?.server ?? {},
    isFull: true,
  };
  if (own?.restarts === true) opened.server = await startServer(own.file, start);
  opened.program = await startPeer(program, start);
  await opened.program.ask({ kind: 'resume', ids }, 60);
  return (performance.now() - began) / 1_000;
}

/** Returns the bytes of memory of a server, what its processes share counted once. */
function memoryOf(server: PeerServer | null): number {
  if (server === null) return 0;
  const kilobytes = familyOf(server.pid).map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]),
  );
  return kilobytes.reduce((sum, size) => sum + size, 0) * 1_024;
}

function runningOf(opened: Or<Running>): Running {
  if (typeof opened === 'string') throw new Error(opened);
  return opened;
}

/** A failure becomes a row that reports it; the benchmark continues. */
async function orReason<Value>(run: () => Promise<Value>): Promise<Or<Value>> {
  try {
    return await run();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function sectionOf(tables: string, loads: readonly number[]): string {
  const [before, after] = loads.map((value) => value.toFixed(0));
  return `## Compared with other products

\`npm run bench peers\` gives the same work to other products that hold a run for an approval, in the same run and in turns: one step waits, the next
is a tool that does nothing. Each is a separate process that is called without HTTP; \`bench/peers/README.md\` has the settings.
Measured on ${cpus().length} cores with a load of ${before} at the beginning and ${after} at the end.

A rate is the number of runs per second that the callers parked, approved and completed, with the CPU time of one run, including the
peer's server and database. The first second is that of a new process. The next two columns are the median of ${turns} turns of ${secondsOfTurn} s of a
warm one: each ran ${warmCycles} cycles with as many callers before, or for ${mostSecondsToWarm} s. In the last column two callers approved each of ${racedRuns} runs at the same
moment: the tool should run once for each, and one approval should be refused.

${tables}

64 callers of another warm process parked the runs once, for at most ${secondsToPark} s. Memory was read after ${secondsOfRest} s of rest, heap after a garbage collection,
which is precise to some 0.4 KB. The memory of a peer's separate server is listed extra. Then the process was ended by SIGKILL. The last
column is the time from the start of a new process until three runs (the first, the middle and the last) were approved and complete.
`;
}
