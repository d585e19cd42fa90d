import { resolve } from 'node:path';
import { loadConfig } from '../../actors/config/config.ts';
import { chooseFolder } from '../choose-agent.ts';
import type { Session } from '../session.ts';

/** The folder whose log is meant: that of --dir, else that of the agent here, else that of the one that runs. */
export function auditFolderOf(
  dir: string | undefined,
  { env, output }: Pick<Session, 'env' | 'output'>,
): string {
  return resolve(chooseFolder(dir, env, (line) => output.note(line)).dir);
}

/** Returns the path of an agent's log; the default while its configuration cannot be read. */
export function auditPathOf(
  dir: string | undefined,
  session: Pick<Session, 'env' | 'output'>,
): string {
  const directory = auditFolderOf(dir, session);
  const loaded = loadConfig(directory, session.env);
  return resolve(directory, loaded.ok ? loaded.config.audit.path : '.service/audit.ndjson');
}
