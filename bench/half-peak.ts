import { setTimeout as pause } from 'node:timers/promises';
import { type Daemon, makeAgentFolder, startDaemon } from './daemon.ts';
import { type Figure, mebibytes } from './figure.ts';
import { Load, measure, percentile } from './load.ts';

/** Callers at once. */
const callers = 64;

const minutes = 10;
const minute = 60_000;

/** What a minute of the soak left behind. */
interface Minute {
  heap: number;
  resident: number;
  p99: number;
}

/** Ten minutes of tasks that are parked, approved and answered, at half of what the daemon can do. */
export async function soakFigures(): Promise<Figure[]> {
  const folder = makeAgentFolder();
  const daemon = await startDaemon(folder.directory);
  const load = new Load(daemon.url, 2 * callers + 2);
  try {
    let sent = 0;
    const cycle = (): Promise<void> => load.cycle(`s${sent++}`);
    await measure(callers, 2_000, cycle);
    const { perSecond: peak } = await measure(callers, 5_000, cycle);
    const soaked: Minute[] = [];
    for (let index = 0; index < minutes; index += 1) {
      soaked.push(await oneMinute(daemon, peak / 2, cycle));
    }
    const what = `${minutes} minutes of park → approve → complete at ${Math.round(peak / 2)}/s, half of the peak`;
    const shown = (pick: (minute: Minute) => string): string => soaked.map(pick).join(', ');
    return [
      { what: `${what}: tasks`, measured: sent.toLocaleString('en'), aim: '' },
      {
        what: `${what}: heap after each minute`,
        measured: shown(({ heap }) => mebibytes(heap)),
        aim: 'flat',
      },
      {
        what: `${what}: resident after each minute`,
        measured: shown(({ resident }) => mebibytes(resident)),
        aim: 'flat',
      },
      {
        what: `${what}: p99 of each minute`,
        measured: shown(({ p99 }) => `${p99.toFixed(0)} ms`),
        aim: '',
      },
    ];
  } finally {
    await load.close();
    await daemon.stop();
    folder.remove();
  }
}

/** Runs so many cycles a second for a minute, however long each of them takes. */
async function oneMinute(
  daemon: Daemon,
  perSecond: number,
  cycle: () => Promise<void>,
): Promise<Minute> {
  const times: number[] = [];
  const running = new Set<Promise<void>>();
  const began = performance.now();
  for (let index = 0; performance.now() - began < minute; index += 1) {
    const early = began + (index * 1_000) / perSecond - performance.now();
    if (early > 0) await pause(early);
    const started = performance.now();
    const run: Promise<void> = cycle().then(() => {
      times.push(performance.now() - started);
      running.delete(run);
    });
    running.add(run);
  }
  await Promise.all(running);
  const { heap, resident } = await daemon.memory();
  return { heap, resident, p99: percentile(times, 0.99) };
}
