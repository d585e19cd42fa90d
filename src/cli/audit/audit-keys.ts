import { join } from 'node:path';
import { loadConfig } from '../../actors/config/config.ts';
import { openAuditKeys, type PublicKeySet } from '../../actors/records/records.ts';
import { configFailure } from '../config-failure.ts';
import { findAgent } from '../find-agent.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { auditFolderOf } from './audit-path.ts';
import { readKeys } from './read-keys.ts';

export interface AuditKeysOptions {
  dir?: string;
  url?: string;
}

/**
 * `audit keys`: prints the public keys of an agent's log as a JWKS, read from its files or from the running agent
 * (docs/contract/audit.md).
 */
export async function auditKeys(session: Session, { dir, url }: AuditKeysOptions): Promise<void> {
  const { output, env } = session;
  const keys =
    url === undefined ? await keysOf(auditFolderOf(dir, session), session) : await keysAt(url, env);
  output.line(JSON.stringify(keys, null, 2));
  output.json(keys);
}

/** Returns the published keys of an agent from its folder. */
export async function keysOf(directory: string, session: Session): Promise<PublicKeySet> {
  const env = await environmentOf(session, directory);
  const loaded = loadConfig(directory, env);
  if (!loaded.ok) throw configFailure(loaded.problems, loaded.warnings);
  return openAuditKeys(loaded.config.audit, { env, folder: join(directory, '.service') }).published;
}

function keysAt(url: string, env: NodeJS.ProcessEnv): Promise<PublicKeySet> {
  const agent = findAgent({ url }, env);
  return readKeys(`${agent.url}/.well-known/service-audit-keys`);
}
