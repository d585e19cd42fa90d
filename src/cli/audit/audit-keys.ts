import { loadConfig } from '../../actors/config/config.ts';
import { openAuditKeys, type PublicKeySet } from '../../actors/records/records.ts';
import { configFailure } from '../config-failure.ts';
import { findAgent } from '../find-agent.ts';
import type { Session } from '../session.ts';
import { auditFolderOf } from './audit-path.ts';
import { readKeys } from './read-keys.ts';

export interface AuditKeysOptions {
  dir?: string;
  url?: string;
}

/** `audit keys`: the public keys of an agent's log as a JWKS, of its files or of the agent that runs (contract section 10). */
export async function auditKeys(session: Session, { dir, url }: AuditKeysOptions): Promise<void> {
  const { output, env } = session;
  const keys =
    url === undefined ? keysOf(auditFolderOf(dir, session), env) : await keysAt(url, env);
  output.line(JSON.stringify(keys, null, 2));
  output.json(keys);
}

function keysOf(directory: string, env: NodeJS.ProcessEnv): PublicKeySet {
  const loaded = loadConfig(directory, env);
  if (!loaded.ok) throw configFailure(loaded.problems, loaded.warnings);
  return openAuditKeys(loaded.config.audit.signing, env).published;
}

function keysAt(url: string, env: NodeJS.ProcessEnv): Promise<PublicKeySet> {
  const agent = findAgent({ url }, env);
  return readKeys(`${agent.url}/.well-known/service-audit-keys`);
}
