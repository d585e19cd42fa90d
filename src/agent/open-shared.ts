import { systemClock } from '../actors/clock.ts';
import type { ServiceConfig } from '../actors/config/config.ts';
import { usualUrlVariable } from '../actors/config/config.ts';
import type { Clock, Log } from '../actors/ports.ts';
import {
  type AuditKeys,
  type AuditSinks,
  HeldDuty,
  loadSharedStore,
  type PostgresStore,
} from '../actors/records/records.ts';
import { rest } from '../actors/rest.ts';
import type { SharedWork } from '../actors/tasks/tasks.ts';

/** What opening a store that daemons share needs. */
export interface SharedParts {
  config: ServiceConfig;
  env: NodeJS.ProcessEnv;
  signer: AuditKeys['signer'];
  log: Log;
}

/** Something that one daemon of several does at a time. */
export interface Duties {
  /** Adds something to do: `begin` resolves with what ends it. */
  add(begin: () => Promise<() => Promise<void>>): void;
  /** True while this daemon does them. */
  readonly isHeld: boolean;
  /** Leaves them to others. */
  stop(): Promise<void>;
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
export async function openShared({ config, env, signer, log }: SharedParts): Promise<OpenedShared> {
  const { url_env: variable = usualUrlVariable, schema = 'holdpoint', pool = 10 } = config.store;
  const { openSharedStore } = await loadSharedStore();
  const { store, engine } = await openSharedStore({
    url: () => env[variable] ?? '',
    variable,
    ...{ schema, pool, log },
    agentId: config.agent_id,
    audit: { chain: config.audit.chain, signer },
  });
  const begins: (() => Promise<() => Promise<void>>)[] = [];
  const duty = new HeldDuty({
    lock: () => store.lock('keeper'),
    begin: () => beginAll(begins),
    log,
  });
  let unfollow: () => void = () => undefined;
  return {
    store,
    shared: {
      interrupted: await interruptedOf(store),
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
        await duty.stop();
        unfollow();
        await engine.stop();
      },
    },
    duties: {
      add: (begin) => void begins.push(begin),
      stop: () => duty.stop(),
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

async function beginAll(begins: readonly (() => Promise<() => Promise<void>>)[]) {
  const ends: (() => Promise<void>)[] = [];
  const endAll = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    for (const begin of begins) ends.push(await begin());
    return endAll;
  } catch (error) {
    await endAll();
    throw error;
  }
}

/** Returns the tasks that no daemon is there for, which a restart of the agent interrupted. */
async function interruptedOf({ isFirst, rows }: PostgresStore): Promise<string[]> {
  return isFirst ? [...(await rows.working()), ...(await rows.parked())] : [];
}

/** Writes the log to a file and offers it to the sinks, which go on where the daemon before stopped. */
export function keepCopies(
  { store, duties }: OpenedShared,
  { path, sinks, log }: { path: string; sinks: AuditSinks; log: Log },
): void {
  duties.add(async () => {
    const { copyLog, offerLines } = await loadSharedStore();
    const ended = new AbortController();
    const { signal } = ended;
    const copying = [
      () => copyLog({ store, path, signal }),
      () => offerLines({ store, sinks, signal }),
    ].map(async (copy) => {
      while (!signal.aborted) {
        await copy().catch((error: unknown) =>
          log.error({ error }, 'audit: a copy of the log stopped; it goes on in five seconds'),
        );
        await rest(5_000, systemClock(), signal);
      }
    });
    return async () => {
      ended.abort();
      await Promise.all(copying);
    };
  });
}
