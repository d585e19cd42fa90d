import { resolve } from 'node:path';
import { loadConfig, readSection } from '../../actors/config/config.ts';
import {
  type LogAddress,
  loadSharedStore,
  type PostgresLog,
} from '../../actors/records/records.ts';
import { needsPassphrase } from '../../agent/start/agent-environment.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { databaseAddress, urlVariable } from '../store/database-address.ts';
import { auditFolderOf, withGivenSecrets } from './audit-path.ts';

/** The location of a log: files, with `path` as the current one, or the agent's database. */
export type AuditSource = { path: string } | { address: LogAddress };

/**
 * Locates an agent's log; the default files if its configuration is invalid. Prompts for a passphrase only if the
 * database URL is a secret.
 */
export async function auditSourceOf(
  dir: string | undefined,
  session: Session,
): Promise<AuditSource> {
  const directory = auditFolderOf(dir, session);
  const given = await withGivenSecrets(session, directory);
  const store = readSection(directory, 'store', given);
  const loaded = loadConfig(directory, given);
  if (store.kind === 'postgres') {
    const agentId = loaded.ok ? loaded.config.agent_id : null;
    const isKnown = (given[urlVariable(store)] ?? '') !== '';
    const env =
      isKnown || !needsPassphrase(directory, given)
        ? given
        : await environmentOf(session, directory);
    return { address: databaseAddress({ store, agentId }, env) };
  }
  return { path: resolve(directory, loaded.ok ? loaded.config.audit.path : usualPath) };
}

const usualPath = '.service/audit.ndjson';

/** Reads the log of a database and closes the database afterwards. Rejects with DatabaseError. */
export async function withLog<Result>(
  address: LogAddress,
  read: (log: PostgresLog) => Promise<Result>,
): Promise<Result> {
  const { PostgresLog: Log } = await loadSharedStore();
  const log = await Log.load(address);
  try {
    return await read(log);
  } finally {
    await log.close();
  }
}
