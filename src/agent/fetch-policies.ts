import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  digestOf,
  includeReader,
  includeUrl,
  keptPolicyPath,
  loadConfig,
  type ServiceConfig,
} from '../actors/config/config.ts';
import type { EgressRecord } from '../actors/ports/egress.ts';
import { writePrivately } from '../actors/process/process.ts';
import { largestSettingsFile } from '../actors/read-regular-file.ts';
import { messageOf } from '../machines/message-of.ts';
import { fetchFile } from './fetch-file.ts';
import { StartError } from './read-access.ts';

type UrlEntry = Exclude<ServiceConfig['security']['policy']['include'][number], string>;

/** Most policies that may include each other. */
const mostRounds = 8;

const patience = 10_000;

/**
 * Fetches the included policies of which no copy is kept, under the egress rules of the agent, and keeps them. Returns
 * the hops, which are recorded when the log is open. Throws StartError.
 */
export async function fetchPolicies(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<EgressRecord[]> {
  const hops: EgressRecord[] = [];
  for (let round = 0; round < mostRounds; round += 1) {
    const { config, missing } = missingIn(directory, env);
    if (config === null || missing.length === 0) return hops;
    for (const entry of missing) {
      const text = await fetched(entry, { directory, config, record: (hop) => hops.push(hop) });
      const path = join(directory, keptPolicyPath(entry.sha256));
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writePrivately(path, text);
    }
  }
  return hops;
}

/** Returns the policies without a usable copy; a configuration with problems is reported later. */
function missingIn(
  directory: string,
  env: NodeJS.ProcessEnv,
): { config: ServiceConfig | null; missing: UrlEntry[] } {
  const missing: UrlEntry[] = [];
  const read = includeReader(directory);
  const loaded = loadConfig(directory, env, (entry, from) => {
    const found = read(entry, from);
    const url = typeof entry === 'string' ? null : includeUrl(entry.url);
    if (found.ok || typeof entry === 'string' || url === null) return found;
    missing.push(entry);
    return { ok: true, text: 'security: {}', file: entry.sha256, path: null };
  });
  return { config: loaded.ok ? loaded.config : null, missing };
}

async function fetched(
  { url: address, sha256 }: UrlEntry,
  parts: { directory: string; config: ServiceConfig; record: (hop: EgressRecord) => void },
): Promise<string> {
  const url = new URL(address);
  try {
    const source = { source: 'security.policy.include', longest: largestSettingsFile, patience };
    const bytes = await fetchFile(url, { ...parts, ...source });
    const found = digestOf(bytes);
    if (found !== sha256) throw new Error(`its SHA-256 is ${found}, not ${sha256}`);
    return bytes.toString('utf8');
  } catch (error) {
    const name = url.origin + url.pathname;
    throw new StartError(`the included policy ${name} cannot be fetched: ${messageOf(error)}`);
  }
}
