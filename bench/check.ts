import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { send } from './a2a-requests.ts';
import { type Subject, take } from './beside.ts';
import { makeAgentFolder, startDaemon } from './daemon.ts';
import { Load, measure, percentile } from './load.ts';
import { startProgram } from './program.ts';

/** CPU of an operation of the daemon, as a multiple of an echo of the SDK's server in memory. */
type Costs = Record<string, number>;

const turns = 7;

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

async function measureCosts(): Promise<Costs> {
  const folder = makeAgentFolder();
  const daemon = await startDaemon(folder.directory);
  const peer = await startProgram('a2a-sdk-server.ts');
  const [ours, theirs] = [daemon, peer].map(({ url }) => new Pool(url, { connections: 32 }));
  const load = new Load(daemon.url, 32);
  let cycles = 0;
  try {
    if (ours === undefined || theirs === undefined) return {};
    const echo: Subject = { what: 'echo', ...daemon, run: () => send(ours, 'message/send') };
    const cycle: Subject = {
      what: 'park → approve → complete',
      ...daemon,
      run: () => load.cycle(`c${(cycles += 1)}`),
    };
    const base: Subject = { what: 'SDK', ...peer, run: () => send(theirs, 'message/send') };
    for (const { run } of [base, echo, cycle]) await measure(16, 1_500, run);
    const costs: Costs = {};
    for (const callers of [1, 16]) {
      const ratios: Costs[] = [];
      for (let turn = 0; turn < turns; turn += 1) {
        const { cpu } = await take(base, callers);
        const ratio = async (subject: Subject) => (await take(subject, callers)).cpu / cpu;
        ratios.push({ echo: await ratio(echo), [cycle.what]: await ratio(cycle) });
      }
      for (const what of [echo.what, cycle.what]) {
        const median = percentile(
          ratios.map((each) => each[what] ?? Number.NaN),
          0.5,
        );
        costs[`${what}, ${callers} at once`] = Math.round(median * 100) / 100;
      }
    }
    return costs;
  } finally {
    await Promise.all([ours?.destroy(), theirs?.destroy(), load.close()]);
    await daemon.stop();
    await peer.stop();
    folder.remove();
  }
}
