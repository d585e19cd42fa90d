import { join } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import {
  agentEntity,
  type LogAddress,
  loadSharedStore,
  openAuditKeys,
  type RestoredStore,
} from '../../actors/records/records.ts';
import { silentLog } from '../../actors/silent-log.ts';
import { systemClock } from '../../actors/system-clock.ts';

export interface SettledParts {
  directory: string;
  config: ServiceConfig;
  env: NodeJS.ProcessEnv;
  address: LogAddress & { agentId: string };
  /** True if no daemon ran since the tables were copied. */
  isMoved: boolean;
}

/**
 * Settles the PostgreSQL tables of a stopped agent that were restored to an earlier time. Returns what changed; `null`
 * for moved tables. Rejects with StoreError, SigningKeyError or PublicKeyError.
 */
export async function settleCopiedStore(parts: SettledParts): Promise<RestoredStore | null> {
  const { directory, config, env, address, isMoved } = parts;
  const { chain } = config.audit;
  const { signer } = openAuditKeys(config.audit, {
    env,
    folder: join(directory, '.service'),
    creates: true,
  });
  const { settleCopy } = await loadSharedStore();
  return settleCopy({
    ...address,
    ...{ pool: 4, audit: { chain, signer }, clock: systemClock(), log: silentLog, isMoved },
    entity: agentEntity(address.agentId, env),
  });
}
