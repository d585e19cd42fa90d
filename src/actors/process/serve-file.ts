import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../machines/json.ts';
import { readSmallFile } from '../read-small-file.ts';
import { writePrivately } from './write-privately.ts';

const serveFile = z.object({
  pid: z.int().positive(),
  port: z.int().min(1).max(65_535),
  host: z.string(),
  auth_enabled: z.boolean(),
  token_path: z.string(),
  started_at: z.string(),
  version: z.string(),
  /** Digest of the policy in force; absent in files of older releases. */
  policy_sha256: z.string().optional(),
  /** How changed rules come into force; absent in files of older releases. */
  policy_reload: z.enum(['auto', 'manual']).optional(),
  /** The first problem of the rules in the agent's files; absent for none. */
  policy_problem: z.string().optional(),
  /** True if the agent's files have settings that apply at the next start; absent otherwise. */
  policy_needs_restart: z.literal(true).optional(),
  /** Key for answering challenges. */
  proof_key: z.string(),
  /** Port of the chart inspector; absent if it is off. */
  inspector_port: z.int().min(1).max(65_535).optional(),
  /** True if the daemon runs in the background; absent otherwise. */
  in_background: z.literal(true).optional(),
  /** True if other daemons share the tasks; absent otherwise. */
  is_shared: z.literal(true).optional(),
  /** Arguments after `run --dir DIR` at start-up; absent if no command started the daemon. */
  flags: z.array(z.string()).optional(),
});

/** Content of a running daemon's `serve.json` (docs/contract/serve.md). */
export type ServeFile = z.infer<typeof serveFile>;

/** Writes `serve.json`, readable only by its owner. */
export function writeServeFile(stateFolder: string, content: ServeFile): void {
  writePrivately(join(stateFolder, 'serve.json'), `${JSON.stringify(content, null, 2)}\n`);
}

/** Returns the `serve.json` of a state folder; `null` if no daemon wrote one. */
export function readServeFile(stateFolder: string): ServeFile | null {
  const text = readSmallFile(join(stateFolder, 'serve.json'));
  if (text === null) return null;
  return serveFile.safeParse(parseJson(text)).data ?? null;
}

/** Removes `serve.json` unless another process has written it since. */
export function removeServeFile(stateFolder: string, pid: number): void {
  if (readServeFile(stateFolder)?.pid === pid) rmSync(join(stateFolder, 'serve.json'));
}

/** Creates an unguessable token or key. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Creates the daemon's own token and writes it to a file readable only by its owner (docs/contract/authentication.md).
 */
export function writeRuntimeToken(stateFolder: string): { token: string; path: string } {
  const token = randomToken();
  const path = join(stateFolder, 'runtime.token');
  writePrivately(path, token);
  return { token, path };
}

/**
 * Returns the token for the chart inspector. It is created once and stored readable only by its owner, so watchers
 * reconnect after a restart; a token readable by others is replaced.
 */
export function keptInspectorToken(stateFolder: string): string {
  const path = join(stateFolder, 'inspector.token');
  const kept = readPrivately(path);
  if (kept !== null && /^[\w-]{43}$/.test(kept)) return kept;
  const token = randomToken();
  writePrivately(path, token);
  return token;
}

function readPrivately(path: string): string | null {
  try {
    return (statSync(path).mode & 0o077) === 0 ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
