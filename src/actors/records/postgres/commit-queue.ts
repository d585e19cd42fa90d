import { setImmediate as turn } from 'node:timers/promises';
import { messageOf } from '../../../machines/message-of.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Log } from '../../ports/log.ts';
import { rowOf } from '../store/task-row.ts';
import { type TaskWrite, UnrecordedError, UnsavableError } from '../store/task-store.ts';
import type { Batch, CommitSettings, Settling } from './commit-batch.ts';
import type { JobWriter } from './job-writer.ts';
import { OutageNotice } from './outage-notice.ts';
import { CommitWriter } from './postgres-commit.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { isServerGone, isUnkeepable } from './server-failure.ts';

export interface CommitQueueOptions extends CommitSettings {
  log: Log;
  onCommitted: () => void;
  /** Receives the duration of each commit in milliseconds, outages included. */
  onCommit: (milliseconds: number) => void;
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

/** A save with its collected content; a retry writes the same content. */
interface Collected {
  save: PendingSave;
  write: TaskWrite;
}

/** Content of a commit other than tasks. */
interface Loose {
  events: AuditEvent[];
  settlings: Settling[];
  /** Promises to settle once the events are recorded. */
  recorded: Settle[];
  checkpointAt: string | null;
}

/** Initial and maximum pause between two attempts of a commit, in milliseconds. */
const pause = { first: 50, most: 2_000 };

/** Maximum saves of one commit: after a long outage it must stay within the statement timeout. */
const mostSaves = 500;

/** Time after which an empty commit probes a database that has refused one, in milliseconds. */
const tryAgain = 1_000;

/**
 * Commits of one daemon, one at a time; changes that arrive during a commit are batched into the next. During a
 * database outage nothing is refused: changes are committed exactly once when the database is back.
 */
export class CommitQueue {
  readonly #writer: CommitWriter;
  readonly #options: CommitQueueOptions;
  readonly #outage: OutageNotice;
  #saves = new Map<string, PendingSave>();
  #events: AuditEvent[] = [];
  #settlings: Settling[] = [];
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
    this.#writer = new CommitWriter(database, options);
    this.#options = options;
    this.#outage = new OutageNotice({
      log: options.log,
      begins: 'store: a commit waits for the database',
      ends: 'store: commits wait no more',
      explain: (error) => database.explain(error),
    });
  }

  /** Sets the writer of the jobs of each commit from now on. */
  useJobs(jobs: JobWriter): void {
    this.#writer.jobs = jobs;
  }

  /** Number of changes refused because another process committed first. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /** Error of the last failed or pending commit; `null` if there is none. */
  get failure(): Error | null {
    return this.#failure;
  }

  save(id: string, collect: () => TaskWrite): Promise<void> {
    const pending = this.#saves.get(id);
    if (pending !== undefined) {
      return pending.promise.catch(() => undefined).then(() => this.save(id, collect));
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

  /** Stores the statement of a person on a call with its event; returns what came of it. */
  async settle(settling: Settling): Promise<Settling['result']> {
    this.#settlings.push(settling);
    await this.record([]);
    return settling.result;
  }

  /** Requests a checkpoint in the next commit. */
  checkpoint(ts: string): void {
    this.#checkpointAt = ts;
    this.#schedule();
  }

  /** Resolves with `null` once all pending work is settled, or with the error as soon as the database refuses. */
  flush(): Promise<Error | null> {
    if (this.#running === null) return Promise.resolve(null);
    if (this.#failure !== null) return Promise.resolve(this.#failure);
    return new Promise((resolve) => void this.#flushing.push(resolve));
  }

  /** Retries immediately. */
  hurry(): void {
    this.#hurry();
  }

  /** Commits pending work; anything that the database refuses now is dropped. */
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
    // Batches all saves of one event-loop turn.
    await turn();
    while (this.#hasWork()) {
      const saves = [...this.#saves.values()].slice(0, mostSaves);
      for (const { id } of saves) this.#saves.delete(id);
      const rest = {
        events: this.#events,
        settlings: this.#settlings,
        recorded: this.#recorded,
        checkpointAt: this.#checkpointAt,
      };
      this.#events = [];
      this.#settlings = [];
      this.#recorded = [];
      this.#checkpointAt = null;
      this.#isTrying = false;
      await this.#settle(collectAll(saves), rest);
      // Saves triggered by the commit join the next batch.
      await turn();
    }
    this.#running = null;
    this.#tellFlushed(null);
  }

  #hasWork(): boolean {
    const { size } = this.#saves;
    return size + this.#recorded.length > 0 || this.#checkpointAt !== null || this.#isTrying;
  }

  async #settle(collected: Collected[], loose: Loose): Promise<void> {
    const { events, settlings, recorded, checkpointAt } = loose;
    const others = events.length + settlings.length;
    const isEmpty = collected.length + others === 0 && checkpointAt === null;
    // After a failure, an empty commit tests whether the database accepts writes again.
    if (isEmpty && this.#failure === null) {
      for (const { resolve } of recorded) resolve();
      return;
    }
    const writes = collected.map(({ write }) => write);
    try {
      const began = performance.now();
      const refused = await this.#commit({ writes, events, settlings, checkpointAt });
      this.#options.onCommit(performance.now() - began);
      this.#conflicts += refused.size;
      for (const { resolve } of recorded) resolve();
      for (const { save } of collected) {
        const error = refused.get(save.id);
        if (error === undefined) save.resolve();
        else save.reject(error);
      }
      this.#options.onCommitted();
    } catch (error) {
      if (!isServerGone(error) && collected.length + (others === 0 ? 0 : 1) > 1) {
        return this.#settleEach(collected, loose);
      }
      const refusal = refusalOf(error);
      for (const settle of [...recorded, ...collected.map(({ save }) => save)]) {
        settle.reject(refusal);
      }
      if (refusal instanceof UnrecordedError) this.#refused(refusal);
    }
  }

  /** Commits saves separately, so that one invalid value rejects only its own save. */
  async #settleEach(collected: readonly Collected[], rest: Loose): Promise<void> {
    for (const one of collected) {
      await this.#settle([one], { events: [], settlings: [], recorded: [], checkpointAt: null });
    }
    await this.#settle([], rest);
  }

  /** Commits exactly once, with as many attempts as needed; returns the refused tasks with their errors. */
  async #commit(content: Omit<Batch, 'number'>): Promise<ReadonlyMap<string, Error>> {
    this.#number += 1;
    const batch: Batch = { ...content, number: this.#number };
    for (let wait = pause.first, isUnsure = false; ; wait = Math.min(wait * 2, pause.most)) {
      try {
        const refused = await this.#writer.write(batch, isUnsure);
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

  #fail(error: unknown): void {
    const failure = new UnrecordedError('the task store cannot be written', { cause: error });
    this.#outage.failed(error);
    this.#failure = failure;
    this.#tellFlushed(failure);
  }

  /** No new work starts until a commit succeeds; an empty one is tried, since no other may follow. */
  #refused(refusal: UnrecordedError): void {
    if (this.#failure === null) {
      const { cause } = refusal;
      const reason = messageOf(cause);
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

/** Collects the content to save; an error in one task rejects only that task's save. */
function collectAll(saves: readonly PendingSave[]): Collected[] {
  return saves.flatMap((save): Collected[] => {
    try {
      const write = save.collect();
      rowOf(write.change);
      return [{ save, write }];
    } catch (cause) {
      save.reject(new UnsavableError(`task ${save.id} cannot be put together`, { cause }));
      return [];
    }
  });
}

function refusalOf(cause: unknown): Error {
  if (isUnkeepable(cause)) {
    return new UnsavableError('the task contains a string that the database cannot store', {
      cause,
    });
  }
  return new UnrecordedError('the task store cannot be written', { cause });
}
