import { resolve } from 'node:path';
import { loadConfig, type ServiceConfig } from '../../actors/config/config.ts';
import type { LogAddress } from '../../actors/records/records.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { databaseAddress } from './database-address.ts';

/** An agent whose store is in PostgreSQL. */
export interface SharedAgent {
  directory: string;
  config: ServiceConfig;
  env: NodeJS.ProcessEnv;
  address: LogAddress & { agentId: string };
}

/** Reads a folder's agent. Throws CliError if its files are invalid or its store is not PostgreSQL. */
export async function sharedAgent(session: Session, dir: string): Promise<SharedAgent> {
  const directory = resolve(dir);
  const env = await environmentOf(session, directory);
  const loaded = loadConfig(directory, env);
  if (!loaded.ok) throw configFailure(loaded.problems, loaded.warnings);
  const { config } = loaded;
  const { store, agent_id: agentId } = config;
  if (store.kind !== 'postgres') {
    throw new CliError(`store.kind of ${directory} is ${store.kind}`, {
      code: 'config_invalid',
      exitCode: exitCodes.invalid,
      hint: 'write store: {kind: postgres} in service.yaml',
    });
  }
  return {
    directory,
    config,
    env,
    address: { ...databaseAddress({ store, agentId }, env), agentId },
  };
}
