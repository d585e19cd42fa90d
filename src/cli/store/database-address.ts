import { type ServiceConfig, usualUrlVariable } from '../../actors/config/config.ts';
import type { LogAddress } from '../../actors/records/records.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/** The settings of a store, and its agent's ID if known. */
export interface Settled {
  store: ServiceConfig['store'];
  agentId: string | null;
}

/** Returns the name of the variable that holds the PostgreSQL URL. */
export function urlVariable({ url_env }: ServiceConfig['store']): string {
  return url_env ?? usualUrlVariable;
}

/** Returns the address of an agent's PostgreSQL. Throws CliError if its variable is not set. */
export function databaseAddress({ store, agentId }: Settled, env: NodeJS.ProcessEnv): LogAddress {
  const variable = urlVariable(store);
  const url = env[variable] ?? '';
  if (url === '') {
    throw new CliError(`${variable} is not set, which holds the URL of the database`, {
      code: 'config_invalid',
      exitCode: exitCodes.invalid,
      hint: `set ${variable} to postgres://USER:PASSWORD@HOST:PORT/DATABASE`,
    });
  }
  return { url: () => url, variable, schema: store.schema ?? 'holdpoint', agentId };
}
