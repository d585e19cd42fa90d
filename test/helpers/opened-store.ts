import { join } from 'node:path';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import { SqliteStore } from '../../src/actors/records/sqlite/sqlite-store.ts';
import type { TaskStore } from '../../src/actors/records/store/task-store.ts';
import { systemClock } from '../../src/actors/system-clock.ts';
import type { SharedWork } from '../../src/actors/tasks/shared-work.ts';
import { openShared, type SharedParts } from '../../src/agent/start/open-shared.ts';
import { readAgent } from '../../src/agent/start/read-agent.ts';
import { storeEnvironment } from './kept-store.ts';

/** What a task system that a test puts together is kept by. */
export interface OpenedStore {
  store: TaskStore;
  shared: SharedWork | null;
  clock: Clock;
}

/** Opens the store of the agent in a folder by its settings. */
export async function openedStore(
  directory: string,
  config: SharedParts['config'] & { store: { path: string }; audit: { path: string } },
  log: Log,
): Promise<OpenedStore> {
  const clock = systemClock();
  const { store, audit } = config;
  if (store.kind === 'postgres') {
    const opened = await openShared({
      config,
      directory,
      env: storeEnvironment(),
      signer: null,
      log,
    });
    return { store: opened.store, shared: opened.shared, clock: opened.clock(clock) };
  }
  const files = {
    path: join(directory, store.path),
    audit: { path: join(directory, audit.path), chain: audit.chain },
  };
  return { store: await SqliteStore.open(files), shared: null, clock };
}

/** Opens the store of an agent that is stopped. */
export async function storeOfStopped(directory: string): Promise<TaskStore> {
  const { agent, problems } = await readAgent(directory, storeEnvironment(), systemClock());
  if (agent === null) throw new Error(JSON.stringify(problems));
  return (await openedStore(directory, agent.config, silent)).store;
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
