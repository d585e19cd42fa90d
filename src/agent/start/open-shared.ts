import { join } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { usualUrlVariable } from '../../actors/config/config.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import {
  type AuditKeys,
  type AuditSinks,
  type EndOfDuty,
  HeldDuty,
  type JobCounts,
  loadSharedStore,
  type PostgresStore,
  UnreachableError,
} from '../../actors/records/records.ts';
import { rest } from '../../actors/rest.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { SystemError, type SystemErrorCode } from '../../actors/system-error.ts';
import type { HandedRequest, SharedWork } from '../../actors/tasks/tasks.ts';
import { taskMachineVersion } from '../../machines/task/snapshot-steps.ts';
import { version as release } from '../../version.ts';

export interface SharedParts {
  config: Pick<ServiceConfig, 'agent_id' | 'store'> & {
    audit: Pick<ServiceConfig['audit'], 'chain'>;
    security: { defer: Pick<ServiceConfig['security']['defer'], 'on_restart'> };
  };
  /** The agent's folder. This daemon holds the lock on its state. */
  directory: string;
  env: NodeJS.ProcessEnv;
  signer: AuditKeys['signer'];
  log: Log;
}

/** Work that only one of several daemons does at a time. */
export interface Duties {
  /** Adds a duty until the store is closed. `begin` resolves with the function that ends it. */
  add(begin: () => Promise<EndOfDuty>): void;
  /** True while this daemon holds the duties. */
  readonly isHeld: boolean;
}

/** Sharing metrics as seen by this daemon. */
export interface SharedFigures {
  /** Number of changes rejected here because another daemon committed first. */
  conflicts: number;
  /** Delay in milliseconds before changes of other daemons are applied here. */
  lag: number;
  /** Number of tasks that this daemon claimed from daemons that were gone. */
  takeovers: number;
  /** True while this daemon runs the chats, the push notifications, the log file and its sinks. */
  isKeeper: boolean;
  /** Counts the jobs of all daemons by queue. */
  jobs: () => Promise<JobCounts[]>;
}

/** A shared store and the parts that share its work. */
export interface OpenedShared {
  store: PostgresStore;
  shared: SharedWork;
  duties: Duties;
  figures: () => SharedFigures;
  clock: (base: Clock) => Clock;
}

/** Opens an agent's PostgreSQL store, which other daemons may also have open. Throws StoreError. */
export async function openShared({
  config,
  directory,
  env,
  signer,
  log,
}: SharedParts): Promise<OpenedShared> {
  const { url_env: variable = usualUrlVariable, schema = 'holdpoint', pool = 10 } = config.store;
  const { openSharedStore } = await loadSharedStore();
  const { store, engine } = await openSharedStore({
    url: () => env[variable] ?? '',
    variable,
    schema,
    pool,
    log,
    agentId: config.agent_id,
    release,
    folder: join(directory, '.service'),
    audit: { chain: config.audit.chain, signer },
  });
  const begins: (() => Promise<EndOfDuty>)[] = [];
  const duty = new HeldDuty({
    lock: () => store.lock('keeper'),
    begin: () => beginAll(begins),
    log,
  });
  // Runs before closing, so the last commits are also copied to the log file and offered to the sinks.
  store.beforeClosing(() => duty.stop());
  let unfollow: () => void = () => undefined;
  return {
    store,
    shared: {
      interrupted: await interruptedOf(store, config.security.defer.on_restart),
      handOver: (taskId, machineVersion, request) =>
        handOver(store, { taskId, machineVersion, request: JSON.stringify(request) }),
      async start(duties) {
        store.handovers.serve(taskMachineVersion, (taskId, request) =>
          answerHanded(() => duties.answer(taskId, JSON.parse(request) as HandedRequest)),
        );
        unfollow = store.follow((change) => {
          engine.release(change.taskId);
          return duties.changed(change);
        });
        await engine.start({
          ...duties,
          async checkpoint() {
            store.checkpoint();
            await store.flush();
          },
        });
        duty.start();
      },
      async stop() {
        unfollow();
        store.handovers.stop();
        await engine.stop();
      },
    },
    duties: {
      add: (begin) => void begins.push(begin),
      get isHeld() {
        return duty.isHeld;
      },
    },
    figures: () => ({
      ...store.figures,
      takeovers: engine.takeovers,
      isKeeper: duty.isHeld,
      jobs: () => engine.counts(),
    }),
    clock: (base) => store.clock(base),
  };
}

/** An answer as it passes through the database. */
type HandedAnswer = { answer: unknown } | { error: { code: SystemErrorCode; message: string } };

async function handOver(
  { handovers }: PostgresStore,
  handed: Parameters<PostgresStore['handovers']['send']>[0],
): Promise<{ answer: unknown } | null> {
  const text = await handovers.send(handed).catch((error: unknown) => {
    if (!(error instanceof UnreachableError)) throw error;
    throw new SystemError('unrecorded', `${error.message}; read the task, then try again`);
  });
  if (text === null) return null;
  // Safe to cast: only daemons of this agent write the table.
  const answered = JSON.parse(text) as HandedAnswer;
  if ('error' in answered) throw new SystemError(answered.error.code, answered.error.message);
  return answered;
}

/** Rejects if another daemon is to answer. */
async function answerHanded(run: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify({ answer: await run() } satisfies HandedAnswer);
  } catch (error) {
    if (!(error instanceof SystemError) || passing.has(error.code)) throw error;
    const { code, message } = error;
    return JSON.stringify({ error: { code, message } } satisfies HandedAnswer);
  }
}

/** Refusals that concern this daemon and not the request. */
const passing = new Set<SystemErrorCode>(['starting', 'shutting_down']);

async function beginAll(begins: readonly (() => Promise<EndOfDuty>)[]): Promise<EndOfDuty> {
  const ends: EndOfDuty[] = [];
  const endAll: EndOfDuty = async (hasLock) => {
    for (const end of ends.splice(0).toReversed()) await end(hasLock);
  };
  try {
    for (const begin of begins) ends.push(await begin());
    return endAll;
  } catch (error) {
    await endAll(true);
    throw error;
  }
}

/** Returns the tasks that no daemon runs. A restart of the agent ends them. */
async function interruptedOf(
  { isFirst, rows }: PostgresStore,
  onRestart: 'abandon' | 'resume',
): Promise<string[]> {
  // The job engine hands out resumable tasks, so even a million waiting tasks need no processing here.
  if (onRestart === 'resume' || !isFirst) return [];
  return [...(await rows.working()), ...(await rows.parked())];
}

/**
 * Writes the log to a file and offers it to the sinks, continuing where the previous daemon stopped. Returns the function
 * that counts the lines that are not in the file yet; 0 at a daemon that does not write it.
 */
export function keepCopies(
  { store, duties }: OpenedShared,
  { path, sinks, log }: { path: string; sinks: AuditSinks; log: Log },
): () => Promise<number> {
  let copied: number | null = null;
  const onCopied = (line: number): void => {
    copied = line;
  };
  duties.add(async () => {
    const { copyLog, offerLines } = await loadSharedStore();
    const lost = new AbortController();
    const over = new AbortController();
    const until = { lost: lost.signal, over: over.signal };
    const copying = [
      () => copyLog({ store, path, log, until, onCopied }),
      () => offerLines({ store, sinks, until }),
    ].map(async (copy) => {
      while (!over.signal.aborted) {
        await copy().catch((error: unknown) =>
          log.error({ error }, 'audit: a copy of the log stopped; retrying in five seconds'),
        );
        await rest(5_000, systemClock(), over.signal);
      }
    });
    return async (hasLock) => {
      if (!hasLock) lost.abort();
      over.abort();
      await Promise.all(copying);
      copied = null;
    };
  });
  return async () => (copied === null ? 0 : Math.max(0, (await store.lastLine()) - copied));
}
