import { setTimeout } from 'node:timers/promises';
import { codeOf } from '../../machines/error-code.ts';
import { lockFile } from '../records/records.ts';
import { unusableFile } from './unusable-file.ts';

/** Maximum wait for another process to change the same file, in milliseconds. */
const patience = 30_000;

/** Polling interval of a lock, in milliseconds. */
const pause = 50;

/** Waits for the lock of a secrets file and acquires it. Rejects with a SecretsError. */
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
