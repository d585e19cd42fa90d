import { setTimeout } from 'node:timers/promises';
import { codeOf } from '../../machines/error-code.ts';
import { lockFile } from '../records/records.ts';
import { unusableFile } from './unusable-file.ts';

/** Milliseconds that somebody else may take to change the same file. */
const patience = 30_000;

/** Milliseconds between two looks at a lock. */
const pause = 50;

/** Waits until nobody else changes a file of secrets, and keeps others from it. Rejects with a SecretsError. */
export async function takeLock(path: string): Promise<{ release(): void }> {
  const end = Date.now() + patience;
  for (;;) {
    try {
      return lockFile(path, 'which changes secrets', 'try again', 0);
    } catch (error) {
      const isHeld = codeOf(error) === 'already_running' && Date.now() < end;
      if (!isHeld) throw unusableFile(path, `cannot be locked (${String(error)})`, error);
      await setTimeout(pause);
    }
  }
}
