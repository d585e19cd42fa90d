import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readSmallFile } from './read-small-file.ts';
import { writePrivately } from './write-privately.ts';

const serveFile = z.object({
  pid: z.int().positive(),
  port: z.int().min(1).max(65_535),
  host: z.string(),
  auth_enabled: z.boolean(),
  token_path: z.string(),
  started_at: z.string(),
  version: z.string(),
  /** The digest of the policy that it was started with; absent in what older releases wrote. */
  policy_sha256: z.string().optional(),
  /** What its answer to a challenge is made with. */
  proof_key: z.string(),
  /** Where it shows its charts; absent while nobody may look. */
  inspector_port: z.int().min(1).max(65_535).optional(),
  /** The words that it was started with after `run --dir DIR`; absent for one that no command started. */
  flags: z.array(z.string()).optional(),
});

/** What a running daemon says about itself in its state folder (docs/contract/serve.md). */
export type ServeFile = z.infer<typeof serveFile>;

/** Writes `serve.json`, readable by its owner alone. */
export function writeServeFile(stateFolder: string, content: ServeFile): void {
  writePrivately(join(stateFolder, 'serve.json'), `${JSON.stringify(content, null, 2)}\n`);
}

/** Returns what the daemon of a state folder says about itself; `null` when none does. */
export function readServeFile(stateFolder: string): ServeFile | null {
  const text = readSmallFile(join(stateFolder, 'serve.json'));
  if (text === null) return null;
  try {
    return serveFile.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Removes `serve.json` unless another process has written it since. */
export function removeServeFile(stateFolder: string, pid: number): void {
  if (readServeFile(stateFolder)?.pid === pid) rmSync(join(stateFolder, 'serve.json'));
}

/** Makes a token, or a key, that nobody can guess. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Makes the daemon's own token and writes it where only its owner can read it (docs/contract/authentication.md). */
export function writeRuntimeToken(stateFolder: string): { token: string; path: string } {
  const token = randomToken();
  const path = join(stateFolder, 'runtime.token');
  writePrivately(path, token);
  return { token, path };
}

/**
 * Returns the token that watching the charts needs. It is made once and kept where only its owner can read it, so that
 * a page finds the daemon again after a restart; one that others could read is replaced.
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
