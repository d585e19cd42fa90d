/** What each program of this folder does with runs that wait for an approval. */
export interface Runs {
  /** Starts a run and resolves with its identifier once it waits. */
  park(): Promise<string>;
  /** Approves a run and resolves once it is complete; rejects when the approval is refused. */
  approve(id: string): Promise<void>;
  /** Returns how often the tool has run in this process. */
  toolRuns(): number;
}

/** What is asked of a program; each answer is a value of `Answers` of the same name. */
export type Work =
  | { kind: 'cycle'; callers: number; seconds: number; jobs?: number }
  | { kind: 'park'; callers: number; runs: number; seconds: number }
  | { kind: 'race'; runs: number }
  | { kind: 'resume'; ids: readonly string[] }
  | { kind: 'memory' };

/** What a program answers. */
export interface Answers {
  cycle: { jobs: number; seconds: number };
  /** `some` are the first, the middle and the last of those that wait. */
  park: { parked: number; seconds: number; some: string[] };
  race: { runs: number; toolRuns: number; accepted: number };
  resume: Record<string, never>;
  memory: { heap: number; resident: number };
}

/** Does what is asked of a program with its runs. */
export function work(runs: Runs, asked: Work): Promise<Answers[Work['kind']]> {
  switch (asked.kind) {
    case 'cycle':
      return cycle(runs, asked);
    case 'park':
      return park(runs, asked);
    case 'race':
      return race(runs, asked.runs);
    case 'resume':
      return resume(runs, asked.ids);
    case 'memory':
      return Promise.resolve(memory());
  }
}

async function cycle(
  runs: Runs,
  { callers, seconds, jobs: most = Number.POSITIVE_INFINITY }: Extract<Work, { kind: 'cycle' }>,
): Promise<Answers['cycle']> {
  let begun = 0;
  let jobs = 0;
  const took = await atOnce(callers, seconds, async () => {
    if (begun === most) return false;
    begun += 1;
    await runs.approve(await runs.park());
    jobs += 1;
    return true;
  });
  return { jobs, seconds: took };
}

async function park(runs: Runs, asked: Extract<Work, { kind: 'park' }>): Promise<Answers['park']> {
  const ids: string[] = [];
  let begun = 0;
  const took = await atOnce(asked.callers, asked.seconds, async () => {
    if (begun === asked.runs) return false;
    begun += 1;
    ids.push(await runs.park());
    return true;
  });
  const some = [0, Math.floor(ids.length / 2), ids.length - 1].flatMap((index) => ids[index] ?? []);
  return { parked: ids.length, seconds: took, some };
}

/** Two callers approve each run at the same moment. */
async function race(runs: Runs, count: number): Promise<Answers['race']> {
  const before = runs.toolRuns();
  let accepted = 0;
  for (let index = 0; index < count; index += 1) {
    const id = await runs.park();
    const both = await Promise.allSettled([runs.approve(id), runs.approve(id)]);
    accepted += both.filter(({ status }) => status === 'fulfilled').length;
  }
  return { runs: count, toolRuns: runs.toolRuns() - before, accepted };
}

async function resume(runs: Runs, ids: readonly string[]): Promise<Answers['resume']> {
  await Promise.all(ids.map((id) => runs.approve(id)));
  return {};
}

function memory(): Answers['memory'] {
  // A second collection takes what the finalizers of the first let go.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, resident: rss };
}

/** Has a number of callers do a job over and over, until it says no or the time is up; returns the seconds it took. */
async function atOnce(
  callers: number,
  seconds: number,
  job: () => Promise<boolean>,
): Promise<number> {
  const began = performance.now();
  const caller = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1_000) if (!(await job())) return;
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (performance.now() - began) / 1_000;
}
