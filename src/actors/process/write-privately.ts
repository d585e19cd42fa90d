import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Replaces a file, which its owner alone can read, in one step, so that no reader ever sees half of it. */
export function writePrivately(path: string, content: string): void {
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
}
