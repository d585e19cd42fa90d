import { join } from 'node:path';
import { systemClock } from '../actors/clock.ts';
import type { ServiceConfig } from '../actors/config/config.ts';
import { usualUrlVariable } from '../actors/config/config.ts';
import type { Clock, Log } from '../actors/ports.ts';
import {
  type AuditKeys,
  type AuditSinks,
  type EndOfDuty,
  HeldDuty,
  loadSharedStore,
  type PostgresStore,
} from '../actors/records/records.ts';
import { rest } from '../actors/rest.ts';
import type { SharedWork } from '../actors/tasks/tasks.ts';

/** What opening a store that daemons share needs. */
export interface SharedParts {
  config: Pick<ServiceConfig, 'agent_id' | 'store'> & {
    audit: Pick<ServiceConfig['audit'], 'chain'>;
    security: { defer: Pick<ServiceConfig['security']['defer'], 'on_restart'> };
  };
  /** The folder of the agent, whose state this daemon has locked. */
  directory: string;
  env: NodeJS.ProcessEnv;
  signer: AuditKeys['signer'];
  log: Log;
}

/** Something that one daemon of several does at a time. */
export interface Duties {
  /** Adds something to do until the store is closed: `begin` resolves with what ends it. */
  add(begin: () => Promise<EndOfDuty>): void;
  /** True while this daemon does them. */
  readonly isHeld: boolean;
}

/** How the work of several daemons goes, as one of them sees it. */
export interface SharedFigures {
  /** Changes that were refused here, as another daemon came first. */
  conflicts: number;
  /** Milliseconds for which changes of other daemons wait to be taken in. */
  lag: number;
  /** Tasks of daemons that were gone which this one took up. */
  takeovers: number;
  /** True while this one keeps the chats, the pushes, the log's file and its sinks. */
  isKeeper: boolean;
}

/** A shared store with the ways of sharing its work. */
export interface OpenedShared {
  store: PostgresStore;
  shared: SharedWork;
  duties: Duties;
  figures: () => SharedFigures;
  clock: (base: Clock) => Clock;
}

/** Opens the PostgreSQL store of an agent, which other daemons may have open as well. Throws StoreError. */
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
    ...{ schema, pool, log },
    agentId: config.agent_id,
    folder: join(directory, '.service'),
    audit: { chain: config.audit.chain, signer },
  });
  const begins: (() => Promise<EndOfDuty>)[] = [];
  const duty = new HeldDuty({
    lock: () => store.lock('keeper'),
    begin: () => beginAll(begins),
    log,
  });
  // What is committed last is copied and offered as well.
  store.beforeClosing(() => duty.stop());
  let unfollow: () => void = () => undefined;
  return {
    store,
    shared: {
      interrupted: await interruptedOf(store, config.security.defer.on_restart),
      async start(duties) {
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
    }),
    clock: (base) => store.clock(base),
  };
}

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

/** Returns the tasks that no daemon is there for, which a restart of the agent gives up. */
async function interruptedOf(
  { isFirst, rows }: PostgresStore,
  onRestart: 'abandon' | 'resume',
): Promise<string[]> {
  // Those that go on are jobs that the engine gives out, and a million that wait need nobody.
  if (onRestart === 'resume' || !isFirst) return [];
  return [...(await rows.working()), ...(await rows.parked())];
}

/** Writes the log to a file and offers it to the sinks, which go on where the daemon before stopped. */
export function keepCopies(
  { store, duties }: OpenedShared,
  { path, sinks, log }: { path: string; sinks: AuditSinks; log: Log },
): void {
  duties.add(async () => {
    const { copyLog, offerLines } = await loadSharedStore();
    const lost = new AbortController();
    const over = new AbortController();
    const until = { lost: lost.signal, over: over.signal };
    const copying = [
      () => copyLog({ store, path, log, until }),
      () => offerLines({ store, sinks, until }),
    ].map(async (copy) => {
      while (!over.signal.aborted) {
        await copy().catch((error: unknown) =>
          log.error({ error }, 'audit: a copy of the log stopped; it goes on in five seconds'),
        );
        await rest(5_000, systemClock(), over.signal);
      }
    });
    return async (hasLock) => {
      if (!hasLock) lost.abort();
      over.abort();
      await Promise.all(copying);
    };
  });
}
