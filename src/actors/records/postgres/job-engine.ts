import { randomInt } from 'node:crypto';
import type { Db, Job, PgBoss } from 'pg-boss';
import type { Log } from '../../ports.ts';
import { HeldJobs } from './held-jobs.ts';
import { deadlineId, workId } from './job-ids.ts';
import { checkpoints, deadlines, retention, startEngine, works } from './job-queues.ts';
import type { JobChanges, JobTransaction, JobWriter } from './job-writer.ts';
import { OutageNotice } from './outage-notice.ts';

/** What the engine asks for; each may be asked of any daemon. */
export interface JobDuties {
  /** Takes up a task at work whose daemon is gone. */
  takeUp(taskId: string): Promise<void>;
  /** Has a parked task go on whose deadline has come. */
  wake(taskId: string): Promise<void>;
  /** Deletes tasks that have been final for long enough. */
  deleteExpired(): Promise<void>;
  /** States in the log where it stands. */
  checkpoint(): Promise<void>;
}

/** What the engine is opened with. */
export interface JobEngineOptions {
  /** Runs statements on connections of the store. */
  database: Db;
  /** The schema of the engine's own tables. */
  schema: string;
  /** The name of this daemon among those over the store. */
  replica: string;
  /** Returns the daemons whose end nobody has taken note of yet. */
  deadReplicas: () => Promise<string[]>;
  /** Returns whether a daemon has its connection. */
  isAlive: (replica: string) => Promise<boolean>;
  /** Forgets a daemon whose work has been given out. */
  forgetReplica: (replica: string) => Promise<void>;
  /** Puts an error of the database into a sentence. */
  explain: (error: unknown) => string;
  log: Log;
}

/** What a job says. */
interface JobData {
  task: string;
  /** The daemon that began it. */
  replica?: string;
}

/** How often signs of life are given and looked for, in milliseconds. */
const lookEvery = 1_000;

/** Tries that a job is left to the daemon that began it, while that lives. */
const triesOfOwner = 4;

/** Tasks taken up at once. */
const takenAtOnce = 100;

/** The job engine over the database of the tasks: who runs what, and when, is decided there (pg-boss). */
export class JobEngine implements JobWriter {
  readonly #boss: PgBoss;
  readonly #options: JobEngineOptions;
  readonly #held: HeldJobs;
  readonly #outage: OutageNotice;
  #duties: JobDuties | null = null;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();
  #isLooking = false;
  #takeovers = 0;
  #looks = 0;

  private constructor(boss: PgBoss, outage: OutageNotice, options: JobEngineOptions) {
    this.#boss = boss;
    this.#outage = outage;
    this.#options = options;
    this.#held = new HeldJobs({ boss, queue: works });
  }

  /** Opens the engine and makes its tables and queues on first use. */
  static async open(options: JobEngineOptions): Promise<JobEngine> {
    const { database, schema, log, explain } = options;
    const outage = new OutageNotice({
      ...{ log, explain },
      begins: 'jobs: the engine cannot be asked',
      ends: 'jobs: the engine can be asked again',
    });
    const boss = await startEngine(database, schema, {
      superviseIntervalSeconds: 2,
      monitorIntervalSeconds: 2,
      onError: (error) => outage.failed(error),
    });
    return new JobEngine(boss, outage, options);
  }

  /** How many tasks of daemons that were gone were taken up here. */
  get takeovers(): number {
    return this.#takeovers;
  }

  async write(transaction: JobTransaction, changes: JobChanges): Promise<void> {
    const { begun, ended } = changes;
    const db = transaction as Db;
    if (ended.length > 0) await this.#boss.deleteJob(works, ended.map(workId), { db });
    if (begun.length > 0) await this.#begin(begun, db);
    await this.#setDeadlines(changes.deadlines, db);
    this.#held.end(ended.map(workId));
  }

  /** Gives work to this daemon from now on. */
  async start(duties: JobDuties): Promise<void> {
    this.#duties = duties;
    const boss = this.#boss;
    await boss.work<JobData, unknown>(
      deadlines,
      {
        batchSize: 100,
        pollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
        perJobResults: true,
      },
      (jobs) => Promise.all(jobs.map((job) => settledJob(job, duties.wake(job.data.task)))),
    );
    await boss.work(retention, () => duties.deleteExpired());
    await boss.work(checkpoints, () => duties.checkpoint());
    this.#timer = setInterval(() => this.#look(), lookEvery).unref();
    this.#look();
  }

  /** Gives signs of life at once, as after the database was gone. */
  hurry(): void {
    this.#looks = 0;
    this.#look();
  }

  /** Holds the job of a task no more that another daemon has changed. */
  release(taskId: string): void {
    this.#held.end([workId(taskId)]);
  }

  /** Takes no work any more. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#duties = null;
    await this.#looking;
    await this.#boss.stop({ graceful: false, close: false });
  }

  async #begin(begun: readonly string[], db: Db): Promise<void> {
    const given = await this.#give(begun, db);
    if (given.length === begun.length) return this.#held.begin(given);
    // A job of the same id was left, such as that of the daemon which a task is taken up from.
    await this.#boss.deleteJob(works, begun.map(workId), { db });
    this.#held.begin(await this.#give(begun, db));
  }

  /** Makes jobs and gives them to this daemon; one whose id is there already is left out. */
  async #give(tasks: readonly string[], db: Db): Promise<Job<JobData>[]> {
    const { replica } = this.#options;
    // A number that no other job has: nobody sees these before they are given out, and nothing else is given with them.
    const priority = randomInt(1, 2 ** 31 - 1);
    const jobs = tasks.map((task) => ({ id: workId(task), data: { task, replica }, priority }));
    await this.#boss.insert(works, jobs, { db });
    const claim = { minPriority: priority, maxPriority: priority, batchSize: jobs.length, db };
    return this.#boss.fetch<JobData>(works, claim);
  }

  async #setDeadlines(changes: JobChanges['deadlines'], db: Db): Promise<void> {
    if (changes.length === 0) return;
    await this.#boss.deleteJob(
      deadlines,
      changes.map(({ id }) => deadlineId(id)),
      { db },
    );
    const due = changes.flatMap(({ id, at }) =>
      at === null
        ? []
        : [{ id: deadlineId(id), data: { task: id }, startAfter: new Date(at).toISOString() }],
    );
    if (due.length > 0) await this.#boss.insert(deadlines, due, { db });
  }

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#looks += 1;
    this.#looking = this.#lookAround()
      .then(() => this.#outage.worked())
      .catch((error: unknown) => this.#outage.failed(error))
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #lookAround(): Promise<void> {
    if (this.#looks % 3 === 1) await this.#held.touch();
    for (const replica of await this.#options.deadReplicas()) await this.#giveOut(replica);
    const jobs = await this.#boss.fetch<JobData>(works, { batchSize: takenAtOnce });
    this.#held.begin(jobs);
    await Promise.all(jobs.map((job) => this.#takeUp(job)));
  }

  /** Has the jobs of a daemon that is gone given out again, long before they miss a sign of life. */
  async #giveOut(replica: string): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const found = await this.#boss.findJobs<JobData>(works, {
        data: { replica },
        limit: 1_000,
        ...(after === undefined ? {} : { after }),
      });
      const last = found.at(-1);
      // One that was given out before belongs to somebody else by now.
      const lost = found.filter(({ state, retryCount }) => state === 'active' && retryCount === 0);
      if (lost.length > 0) {
        const attempts = lost.map(({ id, retryCount }) => ({ id, retryCount }));
        await this.#boss.fail(works, attempts, { message: 'its daemon is gone' });
        this.#options.log.warn({ replica, tasks: lost.length }, 'jobs: a daemon is gone');
      }
      if (last === undefined || found.length < 1_000) break;
      after = last.id;
    }
    await this.#options.forgetReplica(replica);
  }

  /** A daemon that lives takes its own up again, unless it has stood still for several tries. */
  async #isLeftToOwner({ data, retryCount }: Job<JobData>): Promise<boolean> {
    const { replica: own, isAlive } = this.#options;
    const { replica } = data;
    if (replica === undefined || replica === own || retryCount > triesOfOwner) return false;
    return isAlive(replica);
  }

  async #takeUp(job: Job<JobData>): Promise<void> {
    const { task } = job.data;
    try {
      if (this.#duties === null) throw new Error('this daemon stops');
      if (await this.#isLeftToOwner(job)) throw new Error('its daemon lives');
      await this.#duties.takeUp(task);
      this.#takeovers += 1;
      // What goes on has a job of its own by now, in the place of this one.
      if (this.#held.isHeld(job)) await this.#boss.deleteJob(works, [job]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ error: reason, task_id: task }, 'jobs: a task is not taken up yet');
      await this.#boss.fail(works, [job]);
    }
    this.#held.forget(job);
  }
}

async function settledJob({ id }: Job<JobData>, run: Promise<void>) {
  try {
    await run;
    return { id, status: 'completed' } as const;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { id, status: 'failed', output: { message } } as const;
  }
}
