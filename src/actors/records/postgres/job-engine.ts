import { randomInt } from 'node:crypto';
import type { Db, Job, PgBoss } from 'pg-boss';
import { messageOf } from '../../../machines/message-of.ts';
import type { Log } from '../../ports/log.ts';
import { exactly, type Statement } from './commit-batch.ts';
import { HeldJobs } from './held-jobs.ts';
import { deadlineId, workId } from './job-ids.ts';
import { checkpoints, deadlines, retention, startEngine, works } from './job-queues.ts';
import type { JobChanges, JobWriter } from './job-writer.ts';
import { OutageNotice } from './outage-notice.ts';

/** Callbacks of the job engine; the engine may call each one on any daemon. */
export interface JobDuties {
  /** Resumes a running task whose daemon is dead. */
  takeUp(taskId: string): Promise<void>;
  /** Resumes a parked task whose deadline has passed. */
  wake(taskId: string): Promise<void>;
  /** Deletes tasks that have been final for longer than the retention time. */
  deleteExpired(): Promise<void>;
  /** Records a checkpoint in the log. */
  checkpoint(): Promise<void>;
}

export interface JobEngineOptions {
  /** Runs statements on connections of the store. */
  database: Db;
  /** Schema of the engine's own tables. */
  schema: string;
  /** Name of this daemon among those that share the store. */
  replica: string;
  /** Returns the dead daemons that have not been cleaned up. */
  deadReplicas: () => Promise<string[]>;
  /** Returns whether a daemon is connected to the database. */
  isAlive: (replica: string) => Promise<boolean>;
  /** Forgets a daemon whose jobs have been reassigned. */
  forgetReplica: (replica: string) => Promise<void>;
  /** Converts a database error to a sentence. */
  explain: (error: unknown) => string;
  log: Log;
}

/** Jobs of a queue: those whose time has not come, those that wait for a daemon, and those that a daemon runs. */
export interface JobCounts {
  queue: string;
  scheduled: number;
  ready: number;
  active: number;
}

/** Payload of a job. */
interface JobData {
  task: string;
  /** The daemon that started it. */
  replica?: string;
}

/** Interval of heartbeats and job polls, in milliseconds. */
const lookEvery = 1_000;

/** Number of attempts that are left to the daemon that started the job, while that daemon is alive. */
const triesOfOwner = 4;

/** Maximum tasks taken over at once. */
const takenAtOnce = 100;

/** The job engine (pg-boss) in the task database; it assigns tasks to daemons and schedules deadlines. */
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

  /** Opens the engine and creates its tables and queues on first use. */
  static async open(options: JobEngineOptions): Promise<JobEngine> {
    const { database, schema, log, explain } = options;
    const outage = new OutageNotice({
      log,
      explain,
      begins: 'jobs: the engine is unavailable',
      ends: 'jobs: the engine is available again',
    });
    const boss = await startEngine(database, schema, {
      superviseIntervalSeconds: 2,
      monitorIntervalSeconds: 2,
      onError: (error) => outage.failed(error),
    });
    return new JobEngine(boss, outage, options);
  }

  /** Number of tasks that this daemon has taken over from dead daemons. */
  get takeovers(): number {
    return this.#takeovers;
  }

  /** Counts the jobs by queue and state. The engine renews the counts every two seconds. */
  async counts(): Promise<JobCounts[]> {
    const queues = await this.#boss.getQueues([works, deadlines]);
    return queues.map(({ name, deferredCount, readyCount, activeCount }) => ({
      queue: name,
      scheduled: deferredCount,
      ready: readyCount,
      active: activeCount,
    }));
  }

  async statements(
    { begun, ended, deadlines: changed }: JobChanges,
    mayRemain: boolean,
  ): Promise<Statement[]> {
    const statements: Statement[] = [];
    // The engine writes its statements; the commit sends them with its own.
    const db: Db = {
      executeSql: async (text, values = []) => {
        statements.push({ text, values, isPlannedAnew: true });
        return { rows: [{ count: 0 }] };
      },
    };
    const gone = mayRemain ? [...ended, ...begun] : ended;
    if (gone.length > 0) await this.#boss.deleteJob(works, gone.map(workId), { db });
    if (begun.length > 0) await this.#give(begun, db, statements);
    await this.#setDeadlines(changed, db);
    return statements;
  }

  committed({ begun, ended }: JobChanges): void {
    this.#held.end(ended.map(workId));
    this.#held.begin(begun.map((task) => ({ id: workId(task), retryCount: 0 })));
  }

  /** Starts accepting work. */
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

  /** Sends heartbeats immediately, such as after a database outage. */
  hurry(): void {
    this.#looks = 0;
    this.#look();
  }

  /** Releases the job of a task that another daemon has changed. */
  release(taskId: string): void {
    this.#held.end([workId(taskId)]);
  }

  /** Stops accepting work. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#duties = null;
    await this.#looking;
    await this.#boss.stop({ graceful: false, close: false });
  }

  /** Creates jobs and assigns them to this daemon. */
  async #give(tasks: readonly string[], db: Db, statements: Statement[]): Promise<void> {
    const { replica } = this.#options;
    // A unique priority: the jobs are invisible until fetched, and the fetch below returns no others.
    const priority = randomInt(1, 2 ** 31 - 1);
    const jobs = tasks.map((task) => ({ id: workId(task), data: { task, replica }, priority }));
    await this.#boss.insert(works, jobs, { db, returnId: true });
    // The engine skips ids that exist; here none may.
    statements.push(exactly(statements.pop() as Statement, jobs.length));
    const claim = { minPriority: priority, maxPriority: priority, batchSize: jobs.length, db };
    await this.#boss.fetch<JobData>(works, claim);
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

  /** Reassigns the jobs of a dead daemon at once, instead of waiting for its heartbeat to time out. */
  async #giveOut(replica: string): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const found = await this.#boss.findJobs<JobData>(works, {
        data: { replica },
        limit: 1_000,
        ...(after === undefined ? {} : { after }),
      });
      const last = found.at(-1);
      // A job with retries has already been reassigned to another daemon.
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

  /** A living daemon resumes its own jobs, unless it has stalled for several attempts. */
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
      // A task that continues has a new job by now, which replaces this one.
      if (this.#held.isHeld(job)) await this.#boss.deleteJob(works, [job]);
    } catch (error) {
      const reason = messageOf(error);
      this.#options.log.warn({ error: reason, task_id: task }, 'jobs: a task is not resumed yet');
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
    const message = messageOf(error);
    return { id, status: 'failed', output: { message } } as const;
  }
}
