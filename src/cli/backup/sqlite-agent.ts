import { loadConfig, type ServiceConfig } from '../../actors/config/config.ts';
import { assumedEnvironment } from '../../agent/start/lenient-environment.ts';
import { agentDirectory } from '../agent-directory.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import type { Session } from '../session.ts';

/**
 * Reads the agent of a folder without its secrets, which a scheduled command has not. Throws CliError if its files are
 * invalid or its tasks are in PostgreSQL.
 */
export async function sqliteAgent(
  { env }: Pick<Session, 'env'>,
  dir: string,
): Promise<{ directory: string; config: ServiceConfig }> {
  const directory = agentDirectory(dir);
  const loaded = loadConfig(directory, await assumedEnvironment(directory, env));
  if (!loaded.ok) throw configFailure(loaded.problems, loaded.warnings);
  const { config } = loaded;
  if (config.store.kind === 'sqlite') return { directory, config };
  throw new CliError(`the tasks of ${config.agent_id} are in PostgreSQL`, {
    code: 'store_shared',
    exitCode: exitCodes.invalid,
    hint: 'back up and restore that database, as docs/backup.md describes',
  });
}
