import { setImmediate as turn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { AuditEvent, Log } from '../../ports.ts';
import type { LineSigner } from '../log/line-signer.ts';
import {
  ConflictError,
  type TaskWrite,
  UnrecordedError,
  UnsavableError,
} from '../store/task-store.ts';
import type { Batch } from './commit-batch.ts';
import type { JobWriter } from './job-writer.ts';
import { OutageNotice } from './outage-notice.ts';
import { writeCommit } from './postgres-commit.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { isServerGone, isUnkeepable } from './server-failure.ts';

export interface CommitQueueOptions {
  replica: string;
  channel: string;
  chain: boolean;
  signer: LineSigner | null;
  log: Log;
  onCommitted: () => void;
}

interface Settle {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

interface PendingSave extends Settle {
  id: string;
  collect: () => TaskWrite;
}

/** A save that was collected; one that is tried again writes the same. */
interface Collected {
  save: PendingSave;
  write: TaskWrite;
}

/** What goes into a commit besides tasks. */
interface Loose {
  events: AuditEvent[];
  /** Who waits for the events. */
  recorded: Settle[];
  checkpointAt: string | null;
}

/** Milliseconds between two tries of a commit, at first and at most. */
const pause = { first: 50, most: 2_000 };

/** Milliseconds after which a database that has refused a commit is tried with an empty one. */
const tryAgain = 1_000;

/** Saves of one commit at most: after a long wait for the database it must not take longer than a statement may. */
const mostSaves = 500;

/** Before there is an engine there are no jobs. */
const noJobs: JobWriter = { write: async () => undefined };

/**
 * The commits of one daemon, one after the other: what comes up during one goes together into the next. While the
 * database cannot be asked nothing is refused; it is committed when it is back, and once.
 */
export class CommitQueue {
  jobs: JobWriter = noJobs;
  readonly #database: PostgresDatabase;
  readonly #options: CommitQueueOptions;
  readonly #outage: OutageNotice;
  #saves = new Map<string, PendingSave>();
  #events: AuditEvent[] = [];
  #recorded: Settle[] = [];
  #checkpointAt: string | null = null;
  #running: Promise<void> | null = null;
  #flushing: ((failure: Error | null) => void)[] = [];
  #number = 0;
  #failure: Error | null = null;
  #conflicts = 0;
  #isClosing = false;
  #isTrying = false;
  #trial: NodeJS.Timeout | undefined;
  #hurry: () => void = () => undefined;

  constructor(database: PostgresDatabase, options: CommitQueueOptions) {
    this.#database = database;
    this.#options = options;
    this.#outage = new OutageNotice({
      log: options.log,
      begins: 'store: a commit waits for the database',
      ends: 'store: commits wait no more',
      explain: (error) => database.explain(error),
    });
  }

  /** How many changes were refused, as others came first. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /** Why the last commit was not taken, or not yet; `null` while nothing is wrong. */
  get failure(): Error | null {
    return this.#failure;
  }

  save(id: string, collect: () => TaskWrite): Promise<void> {
    const pending = this.#saves.get(id);
    if (pending !== undefined) {
      pending.collect = collect;
      return pending.promise;
    }
    const save = { ...Promise.withResolvers<void>(), id, collect };
    this.#saves.set(id, save);
    this.#schedule();
    return save.promise;
  }

  record(events: readonly AuditEvent[]): Promise<void> {
    const settle = Promise.withResolvers<void>();
    this.#events.push(...events);
    this.#recorded.push(settle);
    this.#schedule();
    return settle.promise;
  }

  /** Asks the next commit for a checkpoint. */
  checkpoint(ts: string): void {
    this.#checkpointAt = ts;
    this.#schedule();
  }

  /** Resolves with `null` once what is pending is settled, and with the reason as soon as the database does not take it. */
  flush(): Promise<Error | null> {
    if (this.#running === null) return Promise.resolve(null);
    if (this.#failure !== null) return Promise.resolve(this.#failure);
    return new Promise((resolve) => void this.#flushing.push(resolve));
  }

  /** Tries again at once. */
  hurry(): void {
    this.#hurry();
  }

  /** Commits what is pending; what the database does not take now is given up. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#trial);
    this.#hurry();
    await this.#running;
  }

  #schedule(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    // What one turn of the event loop saves goes together.
    await turn();
    while (this.#hasWork()) {
      const saves = [...this.#saves.values()].slice(0, mostSaves);
      for (const { id } of saves) this.#saves.delete(id);
      const rest = {
        events: this.#events,
        recorded: this.#recorded,
        checkpointAt: this.#checkpointAt,
      };
      this.#events = [];
      this.#recorded = [];
      this.#checkpointAt = null;
      this.#isTrying = false;
      await this.#settle(collectAll(saves), rest);
      // Who hears of a commit may have more to save that knows of it.
      await turn();
    }
    this.#running = null;
    this.#tellFlushed(null);
  }

  #hasWork(): boolean {
    const { size } = this.#saves;
    return size + this.#recorded.length > 0 || this.#checkpointAt !== null || this.#isTrying;
  }

  async #settle(collected: Collected[], { events, recorded, checkpointAt }: Loose): Promise<void> {
    const isEmpty = collected.length + events.length === 0 && checkpointAt === null;
    // An empty commit shows whether the database takes one again.
    if (isEmpty && this.#failure === null) {
      for (const { resolve } of recorded) resolve();
      return;
    }
    const writes = collected.map(({ write }) => write);
    try {
      const refused = new Set(await this.#commit({ writes, events, checkpointAt }));
      this.#conflicts += refused.size;
      for (const { resolve } of recorded) resolve();
      for (const { save } of collected) {
        if (!refused.has(save.id)) save.resolve();
        else save.reject(new ConflictError(`task ${save.id} was changed by another process`));
      }
      this.#options.onCommitted();
    } catch (error) {
      if (!isServerGone(error) && collected.length + (events.length === 0 ? 0 : 1) > 1) {
        return this.#settleEach(collected, { events, recorded, checkpointAt });
      }
      const refusal = refusalOf(error);
      for (const settle of [...recorded, ...collected.map(({ save }) => save)]) {
        settle.reject(refusal);
      }
      if (refusal instanceof UnrecordedError) this.#refused(refusal);
    }
  }

  /** One value that cannot be kept takes no other save with it. */
  async #settleEach(collected: readonly Collected[], rest: Loose): Promise<void> {
    for (const one of collected) {
      await this.#settle([one], { events: [], recorded: [], checkpointAt: null });
    }
    await this.#settle([], rest);
  }

  /** Commits once, however often that has to be tried; returns the ids of the tasks that were refused. */
  async #commit(content: Omit<Batch, 'number'>): Promise<string[]> {
    this.#number += 1;
    const batch = { ...content, number: this.#number };
    for (let wait = pause.first, isUnsure = false; ; wait = Math.min(wait * 2, pause.most)) {
      try {
        const refused = await this.#write(batch, isUnsure);
        this.#failure = null;
        this.#outage.worked();
        return refused;
      } catch (error) {
        if (!isServerGone(error)) throw error;
        isUnsure = true;
        this.#fail(error);
        if (this.#isClosing) throw error;
        await new Promise<void>((resolve) => {
          this.#hurry = resolve;
          setTimeout(resolve, wait).unref();
        });
      }
    }
  }

  #write(batch: Batch, isUnsure: boolean): Promise<string[]> {
    const ports = { ...this.#options, jobs: this.jobs };
    return this.#database.transaction(
      async (client) =>
        (isUnsure ? await this.#committed(client) : null) ??
        (await writeCommit(client, batch, ports)),
    );
  }

  /**
   * Returns what was refused by the last commit when it is there after all; `null` when it is not. A commit that is
   * still under way holds the row.
   */
  async #committed(client: PoolClient): Promise<string[] | null> {
    const { rows } = await client.query<{ commits: number; refused: string }>(
      'SELECT commits, refused FROM replicas WHERE id = $1 FOR UPDATE',
      [this.#options.replica],
    );
    const [row] = rows;
    return row?.commits === this.#number ? (JSON.parse(row.refused) as string[]) : null;
  }

  #fail(error: unknown): void {
    const failure = new UnrecordedError('the task store cannot be written', { cause: error });
    this.#outage.failed(error);
    this.#failure = failure;
    this.#tellFlushed(failure);
  }

  /** Nothing new is begun until a commit is taken; an empty one is tried, as nothing else may come. */
  #refused(refusal: UnrecordedError): void {
    if (this.#failure === null) {
      const { cause } = refusal;
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#options.log.error({ error: reason }, 'store: the database refuses a commit');
    }
    this.#failure = refusal;
    clearTimeout(this.#trial);
    if (this.#isClosing) return;
    this.#trial = setTimeout(() => {
      this.#isTrying = true;
      this.#schedule();
    }, tryAgain).unref();
  }

  #tellFlushed(failure: Error | null): void {
    const flushing = this.#flushing;
    this.#flushing = [];
    for (const resolve of flushing) resolve(failure);
  }
}

/** Collects what is to be saved; a defect in one task is refused alone. */
function collectAll(saves: readonly PendingSave[]): Collected[] {
  return saves.flatMap((save): Collected[] => {
    try {
      return [{ save, write: save.collect() }];
    } catch (cause) {
      save.reject(new UnsavableError(`task ${save.id} cannot be put together`, { cause }));
      return [];
    }
  });
}

function refusalOf(cause: unknown): Error {
  if (isUnkeepable(cause)) {
    return new UnsavableError('the task holds a text that the database cannot keep', { cause });
  }
  return new UnrecordedError('the task store cannot be written', { cause });
}
