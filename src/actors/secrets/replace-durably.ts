import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file, readable only by its owner, atomically and durably; until then the old file is unchanged. Supports
 * one writer at a time: the draft of a killed writer is overwritten.
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
