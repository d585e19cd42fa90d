import { resolve } from 'node:path';
import { loadConfig } from '../../actors/config/config.ts';

/** Where an agent's log is; the usual place while its configuration cannot be read. */
export function auditPathOf(directory: string, env: NodeJS.ProcessEnv): string {
  const loaded = loadConfig(directory, env);
  return resolve(directory, loaded.ok ? loaded.config.audit.path : '.service/audit.ndjson');
}
