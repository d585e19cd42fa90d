import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { send } from './a2a-requests.ts';
import { jobsOf, type Subject, take } from './beside.ts';
import { Connections } from './connections.ts';
import { cpuTimeOf } from './cpu-time.ts';
import { makeAgentFolder, startDaemon } from './daemon.ts';
import { openGate } from './gate.ts';
import { openGateway } from './gateway.ts';
import { Load, measure, percentile } from './load.ts';
import { startPeer } from './peers/peer-program.ts';
import { startProgram } from './program.ts';

/** CPU of an operation of the daemon, as a multiple of an echo of the SDK's server in memory. */
type Costs = Record<string, number>;

const turns = 5;

/** Runs of an operation before it counts. */
const warmJobs = 1_500;

/** A cost may exceed the committed one by this share. */
const tolerance = 0.1;

const file = join(import.meta.dirname, 'costs.json');

/**
 * Compares the CPU of operations with the committed costs of this machine type and returns the sentences about those
 * that exceed them. All are measured in turns with the SDK's server, so that a busy machine changes both. `isWriting`
 * commits the measured costs instead.
 */
export async function checkCosts(isWriting: boolean): Promise<string[]> {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version.split('.')[0]}`;
  const committed = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Costs>;
  const costs = await measureCosts();
  for (const [what, cost] of Object.entries(costs)) {
    const before = committed[machine]?.[what];
    const aside = before === undefined ? 'no figure of this machine type' : `${before} before`;
    console.log(`${what}: ${cost} times an echo of the SDK in memory, ${aside}`);
  }
  if (isWriting) {
    writeFileSync(file, `${JSON.stringify({ ...committed, [machine]: costs }, null, 2)}\n`);
    return [];
  }
  return excesses(costs, committed[machine] ?? {});
}

/** Returns a sentence for each cost that exceeds the committed one. */
export function excesses(costs: Costs, committed: Costs): string[] {
  return Object.entries(costs).flatMap(([what, cost]) => {
    const before = committed[what];
    if (before === undefined || cost <= before * (1 + tolerance)) return [];
    const more = Math.round((cost / before - 1) * 100);
    return [`${what} costs ${more} % more CPU than committed (${cost} instead of ${before})`];
  });
}

/** An operation with a number of callers; `take` does it many times and returns the CPU milliseconds of one. */
interface Operation {
  what: string;
  callers: number;
  take: () => Promise<number>;
}

/** What runs until all is measured. */
interface Closable {
  close: () => Promise<unknown> | undefined;
}

async function measureCosts(): Promise<Costs> {
  const open: Closable[] = [];
  try {
    const [base, operations] = await openAll(open);
    const ratios: Record<string, number[]> = {};
    for (let turn = 0; turn < turns; turn += 1) {
      for (const callers of new Set(operations.map((each) => each.callers))) {
        const echo = (await take(base, callers)).cpu;
        for (const each of operations) {
          if (each.callers !== callers) continue;
          const cost = (await each.take()) / echo;
          (ratios[`${each.what}, ${callers} at once`] ??= []).push(cost);
        }
      }
    }
    const medians = Object.entries(ratios).map(([what, costs]): [string, number] => {
      return [what, Math.round(percentile(costs, 0.5) * 100) / 100];
    });
    return Object.fromEntries(medians);
  } finally {
    for (const each of open.toReversed()) await each.close();
  }
}

/** Starts the server of the SDK, and what it is compared with, warm. */
async function openAll(open: Closable[]): Promise<[base: Subject, operations: Operation[]]> {
  const keep = <Opened extends Closable>(opened: Opened): Opened => {
    open.push(opened);
    return opened;
  };
  const peer = await startProgram('a2a-sdk-server.ts');
  keep({ close: peer.stop });
  const theirs = keep(new Connections(peer.url, { connections: 128 }));
  const base: Subject = { what: 'SDK', ...peer, run: () => send(theirs, 'message/send') };
  await measure(16, warmJobs, base.run);

  const folder = makeAgentFolder();
  keep({ close: async () => folder.remove() });
  const daemon = await startDaemon(folder.directory);
  keep({ close: daemon.stop });
  const ours = keep(new Connections(daemon.url, { connections: 128 }));
  const load = keep(new Load(daemon.url, 32));
  let cycles = 0;
  const echo: Subject = { what: 'echo', ...daemon, run: () => send(ours, 'message/send') };
  const cycle: Subject = {
    what: 'park → approve → complete',
    ...daemon,
    run: () => load.cycle(`c${(cycles += 1)}`),
  };
  const gate = keep(await openGate());
  const hold: Subject = {
    what: 'hold → approve',
    ...gate,
    run: async () => void (await gate.gate.decide()),
  };
  const gateway = keep(await openGateway());
  const call: Subject = { what: 'an allowed call of a gateway', ...gateway, run: gateway.call };
  for (const { run } of [echo, cycle, hold, call]) await measure(16, warmJobs, run);
  const overHttp = (subject: Subject, callers: number): Operation => ({
    what: subject.what,
    callers,
    take: async () => (await take(subject, callers)).cpu,
  });
  const inProcess = keep(await openInProcess());
  return [
    base,
    [
      ...[1, 16, 128].map((callers) => overHttp(echo, callers)),
      ...[1, 16].map((callers) => overHttp(cycle, callers)),
      ...[1, 64].map((callers) => ({ ...inProcess, callers, take: () => inProcess.cpu(callers) })),
      overHttp(hold, 64),
      overHttp(call, 16),
    ],
  ];
}

/** The task system alone, in a process of its own. */
async function openInProcess() {
  const folder = makeAgentFolder();
  const program = await startPeer(join(import.meta.dirname, 'peers/holdpoint.ts'), {
    directory: folder.directory,
    ...{ server: {}, isFull: true },
  });
  const cycle = (callers: number, jobs: number) =>
    program.ask({ kind: 'cycle', callers, seconds: 60, jobs }, 90);
  await cycle(16, warmJobs);
  return {
    what: 'park → approve → complete in process',
    async cpu(callers: number): Promise<number> {
      const before = cpuTimeOf(program.pid);
      const { jobs } = await cycle(callers, jobsOf(callers));
      return (cpuTimeOf(program.pid) - before) / jobs;
    },
    async close() {
      await program.kill();
      folder.remove();
    },
  };
}
