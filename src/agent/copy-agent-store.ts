import { resolve } from 'node:path';
import { systemClock } from '../actors/clock.ts';
import type { ServiceConfig } from '../actors/config/config.ts';
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
} from '../actors/records/records.ts';
import { lockFiles } from './lock-files.ts';

/** What an agent's store is copied from. */
export interface CopyParts {
  directory: string;
  config: ServiceConfig;
  env: NodeJS.ProcessEnv;
  /** Where the copy goes. */
  address: LogAddress;
  /** The SQLite file. */
  from: string;
  /** The current file of its log. */
  log: string;
}

/**
 * Copies the SQLite store of an agent that is stopped, with its log, into its PostgreSQL. Throws StoreError,
 * DirectoryLockedError or FileLockedError; then nothing was copied.
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
    const { signer, published: keys } = openAuditKeys(audit.signing, env);
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

/** The log says whose store it belongs to. */
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
