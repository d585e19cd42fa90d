import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Replaces a file atomically; only its owner can read it. */
export function writePrivately(path: string, content: string): void {
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
