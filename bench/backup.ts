import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { get } from './connections.ts';
import { type Daemon, makeAgentFolder, startDaemon } from './daemon.ts';
import { type Figure, mebibytes, seconds } from './figure.ts';
import { fillTasks } from './lists.ts';
import { Load, percentile } from './load.ts';

/** Time between two checks that the daemon answers, in milliseconds. */
const pulse = 5;

/** A backup of 100,000 tasks while callers have calls held and released, and the pauses that others see. */
export async function backupFigures(): Promise<Figure[]> {
  const more = '    max_pending_per_caller: 100000\n';
  const folder = makeAgentFolder({ more });
  fillTasks(folder.directory);
  const daemon = await startDaemon(folder.directory);
  try {
    const path = join(folder.directory, '..', `bench-backup-${process.pid}.tar.gz`);
    await underLoad(daemon, 'warm', () => pause(5_000));
    const before = await underLoad(daemon, 'before', () => pause(5_000));
    const began = performance.now();
    const during = await underLoad(daemon, 'during', () => backUp(folder.directory, path));
    const took = performance.now() - began;
    const size = mebibytes(statSync(path).size);
    const at = ({ pauses, cycles }: Loaded) =>
      `pauses p99 ${percentile(pauses, 0.99).toFixed(1)} ms, most ${Math.max(...pauses).toFixed(1)} ms, ${cycles.toFixed(0)} cycles/s`;
    return [
      {
        what: 'backup of 100,000 tasks under load',
        measured: `${seconds(took)} for ${size}; ${at(during)} (without it ${at(before)})`,
        aim: 'no pause over 50 ms',
      },
    ];
  } finally {
    await daemon.stop();
    folder.remove();
  }
}

interface Loaded {
  /** How long `/healthz` took to answer, in milliseconds. */
  pauses: number[];
  /** Held and released calls per second. */
  cycles: number;
}

async function underLoad(
  daemon: Daemon,
  name: string,
  work: () => Promise<unknown>,
): Promise<Loaded> {
  const load = new Load(daemon.url, 8);
  const pauses: number[] = [];
  let isOver = false;
  let cycles = 0;
  const cycling = async (caller: number): Promise<void> => {
    for (let index = 0; !isOver; index += 1, cycles += 1) {
      await load.cycle(`${name}-${caller}-${index}`);
    }
  };
  const asking = async (): Promise<void> => {
    while (!isOver) {
      const began = performance.now();
      await get(`${daemon.url}/healthz`);
      pauses.push(performance.now() - began);
      await pause(pulse);
    }
  };
  const began = performance.now();
  const others = [cycling(0), cycling(1), asking()];
  await work();
  isOver = true;
  await Promise.all(others);
  await load.close();
  return { pauses, cycles: (cycles / (performance.now() - began)) * 1_000 };
}

/** Runs the command in a process of its own and at a low priority, as the timer of docs/backup.md does. */
async function backUp(directory: string, path: string): Promise<void> {
  const program = join(import.meta.dirname, '../src/cli.ts');
  const args = [
    '--disable-warning=ExperimentalWarning',
    program,
    'backup',
    path,
    '--dir',
    directory,
  ];
  const child = spawn('nice', ['-n', '10', process.execPath, ...args], { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the backup ended with ${code}`);
}
