import { type Daemon, makeAgentFolder, readMetrics, startDaemon, untilDeferred } from './daemon.ts';
import type { Figure } from './figure.ts';
import { parkInProcess } from './in-process.ts';
import { Load, type Measured, measure, medianOf, percentile } from './load.ts';

const rounds = 3;

/** Echo sends over HTTP, each on disk before it is answered. */
export async function echoFigures(): Promise<Figure[]> {
  return withDaemon(async ({ url }) => {
    const figures: Figure[] = [];
    for (const callers of [1, 16, 128]) {
      const load = new Load(url, callers);
      await measure(callers, 1_000, () => load.echo());
      const measured = await repeat(() =>
        measure(callers, callers === 1 ? 2_000 : 15_000, () => load.echo()),
      );
      await load.close();
      const aim = callers === 16 ? '5,000/s' : '';
      figures.push({ what: `echo sends, ${callers} at once`, measured: rate(measured), aim });
    }
    return figures;
  });
}

/** Tasks parked, released and answered over HTTP. */
export async function cycleFigures(): Promise<Figure[]> {
  return withDaemon(async ({ url }) => {
    const figures: Figure[] = [];
    let run = 0;
    for (const callers of [1, 64]) {
      const load = new Load(url, callers * 2);
      const cycles = (jobs: number) => {
        run += 1;
        return measure(callers, jobs, (index) => load.cycle(`c${run}-${index}`));
      };
      await cycles(500);
      const measured = await repeat(() => cycles(callers === 1 ? 1_000 : 6_000));
      await load.close();
      const aim = callers === 64 ? '2,500/s' : '';
      figures.push({
        what: `park → approve → complete, ${callers} at once`,
        measured: rate(measured),
        aim,
      });
    }
    return figures;
  });
}

/** How soon a released task answers, and what it costs to wait, with many parked and held. */
export async function heldFigures(parked: number): Promise<Figure[]> {
  return withDaemon(async (daemon) => {
    const holding = new Load(daemon.url, parked);
    const deciding = new Load(daemon.url, 8);
    await deciding.echo();
    const before = await daemon.memory();
    const answers = new Map<string, Promise<string>>();
    for (let index = 0; index < parked; index += 1) {
      const id = `h${index}`;
      answers.set(id, holding.hold(id));
      if (index % 200 === 199) await parkedAtLeast(daemon, index - 100);
    }
    await parkedAtLeast(daemon, parked);
    const after = await daemon.memory();
    const waits: number[] = [];
    for (let index = 0; index < 500; index += 1) {
      const id = `h${Math.floor((index * parked) / 500)}`;
      const began = performance.now();
      await deciding.approve(id);
      await answers.get(id);
      waits.push(performance.now() - began);
      answers.delete(id);
    }
    const left = Promise.allSettled([...answers.values()]);
    await holding.close();
    await deciding.close();
    await left;
    const many = parked.toLocaleString('en');
    return [
      {
        what: `approve → held answer, ${many} parked and held`,
        measured: `p50 ${ms(percentile(waits, 0.5))}, p99 ${ms(percentile(waits, 0.99))}`,
        aim: parked === 10_000 ? 'p99 10 ms' : '',
      },
      {
        what: `memory of a parked task with its connection, ${many} of them`,
        measured: `${kb((after.heap - before.heap) / parked)} heap, ${kb((after.resident - before.resident) / parked)} resident`,
        aim: '25 KB',
      },
    ];
  });
}

/** Memory of a parked task without followers. */
export async function restingFigures(parked: number): Promise<Figure[]> {
  const folder = makeAgentFolder();
  try {
    const first = await startDaemon(folder.directory);
    const before = await first.memory();
    const load = new Load(first.url, 256);
    await measure(256, parked, async (index) => {
      const left = new AbortController();
      const answer = load.hold(`r${index}`, left.signal).catch(() => undefined);
      await untilDeferred(first, `r${index}`);
      left.abort();
      await answer;
    });
    await load.close();
    await allAtRest(first);
    const after = await first.memory();
    await first.stop();
    const bytes = Math.round((after.heap - before.heap) / parked);
    const what = `heap of a parked task without followers, ${parked.toLocaleString('en')} of them`;
    return [{ what, measured: `${bytes} B`, aim: '1 KB' }];
  } finally {
    folder.remove();
  }
}

/** How soon a daemon is ready that finds many parked tasks. */
export async function resumeFigures(parked: number): Promise<Figure[]> {
  const folder = makeAgentFolder();
  try {
    await parkInProcess(folder.directory, parked);
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const daemon = await startDaemon(folder.directory);
      times.push(daemon.readyAfter);
      await daemon.stop();
    }
    const what = `process start to ready, ${parked.toLocaleString('en')} parked, on_restart: resume`;
    return [{ what, measured: ms(percentile(times, 0.5)), aim: parked === 100_000 ? '1 s' : '' }];
  } finally {
    folder.remove();
  }
}

/** How soon a daemon answers that has no task to resume. */
export async function coldStartFigures(): Promise<Figure[]> {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await withDaemon(async ({ readyAfter }) => {
      times.push(readyAfter);
    });
  }
  return [
    { what: 'process start to ready, cold', measured: ms(percentile(times, 0.5)), aim: '300 ms' },
  ];
}

async function withDaemon<Result>(run: (daemon: Daemon) => Promise<Result>): Promise<Result> {
  const folder = makeAgentFolder();
  try {
    const daemon = await startDaemon(folder.directory);
    try {
      return await run(daemon);
    } finally {
      await daemon.stop();
    }
  } finally {
    folder.remove();
  }
}

async function repeat(run: () => Promise<Measured>): Promise<Measured> {
  const runs: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await run());
  return medianOf(runs);
}

async function parkedAtLeast(daemon: Daemon, count: number): Promise<void> {
  for (;;) if ((await readMetrics(daemon.url))('holdpoint_deferrals_pending') >= count) return;
}

export async function allAtRest(daemon: Daemon): Promise<void> {
  for (;;) if ((await readMetrics(daemon.url))('holdpoint_tasks_live') === 0) return;
}

function rate({ perSecond, p50, p99 }: Measured): string {
  return `${Math.round(perSecond).toLocaleString('en')}/s, p50 ${ms(p50)}, p99 ${ms(p99)}`;
}

function ms(milliseconds: number): string {
  return `${milliseconds < 100 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}

function kb(bytes: number): string {
  return `${(bytes / 1_024).toFixed(1)} KB`;
}
