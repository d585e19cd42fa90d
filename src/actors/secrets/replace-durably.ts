import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file, which its owner alone can read, in one step that outlives a power cut; until then the file is as it
 * was. One writer at a time: the draft of one that was killed is written over.
 */
export function replaceDurably(path: string, content: string): void {
  const draft = `${path}.draft`;
  rmSync(draft, { force: true });
  try {
    withFile(draft, 'wx', (file) => writeFileSync(file, content));
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  withFile(dirname(path), 'r', () => undefined);
}

function withFile(path: string, flags: string, use: (file: number) => void): void {
  const file = openSync(path, flags, 0o600);
  try {
    use(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
