import { resolve } from 'node:path';
import { loadConfig, readSection } from '../../actors/config/config.ts';
import {
  type LogAddress,
  loadSharedStore,
  type PostgresLog,
} from '../../actors/records/records.ts';
import { needsPassphrase } from '../../agent/agent-environment.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { databaseAddress, urlVariable } from '../store/database-address.ts';
import { auditFolderOf, withGivenSecrets } from './audit-path.ts';

/** Where a log is kept: in files, of which `path` is the current one, or in the database of its agent. */
export type AuditSource = { path: string } | { address: LogAddress };

/**
 * Finds the log of an agent; the default files while its configuration cannot be read. Asks for a passphrase only where
 * the URL of a database is among the secrets.
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

/** Reads the log of a database, which is closed afterwards. Rejects with DatabaseError. */
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
