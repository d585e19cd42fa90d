import { join, resolve } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import {
  agentEntity,
  checkSource,
  closeSource,
  type LogAddress,
  loadSharedStore,
  openAuditKeys,
  type StoreCopy,
  StoreError,
  tailLines,
} from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { lockFiles } from '../start/lock-files.ts';

export interface CopyParts {
  directory: string;
  config: ServiceConfig;
  env: NodeJS.ProcessEnv;
  /** Destination database. */
  address: LogAddress;
  /** Path of the SQLite file. */
  from: string;
  /** Path of the current audit log file. */
  log: string;
}

/**
 * Copies the SQLite store and the audit log of a stopped agent into its PostgreSQL database. Throws StoreError,
 * DirectoryLockedError or FileLockedError; nothing has been copied in that case.
 */
export async function copyAgentStore(parts: CopyParts): Promise<StoreCopy> {
  const { directory, config, env, address, from, log } = parts;
  const { audit, agent_id: agentId } = config;
  const [source, path] = [resolve(directory, from), resolve(directory, log)];
  checkSource(source);
  const stack = new AsyncDisposableStack();
  try {
    lockFiles(stack, directory, {
      ...config,
      store: { ...config.store, path: source },
      audit: { ...audit, path },
    });
    await checkAgent(path, agentId);
    const { signer, published: keys } = openAuditKeys(audit, {
      env,
      folder: join(directory, '.service'),
      creates: true,
    });
    const closed = await closeSource({
      path: source,
      audit: { path, chain: audit.chain, signer, keys },
      entity: agentEntity(agentId, env),
    });
    const { copyStore } = await loadSharedStore();
    return await copyStore({ ...address, agentId }, source, closed);
  } finally {
    await stack.disposeAsync();
  }
}

/** Checks the agent ID recorded in the log. */
async function checkAgent(log: string, agentId: string): Promise<void> {
  const starts = tailLines({ path: log, event: 'policy_loaded', limit: 1, clock: systemClock() });
  for await (const { event } of starts) {
    const found = event?.['entity_id'];
    if (typeof found !== 'string' || found === agentId) continue;
    throw new StoreError(
      `${log} is the log of agent ${found}, not of ${agentId}; name the files of ${agentId}, or correct agent_id`,
    );
  }
}
