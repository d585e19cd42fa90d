import { DatabaseSync } from 'node:sqlite';
import { onTestFinished, vi } from 'vitest';

/** A disk that takes no commit until it is mended; what was not committed is as if never written. */
export function failingDisk(): { fix: () => void } {
  const genuine = DatabaseSync.prototype.exec;
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql: string,
  ) {
    if (sql === 'COMMIT') throw new Error('database or disk is full');
    genuine.call(this, sql);
  });
  const fix = (): void => spy.mockRestore();
  onTestFinished(fix);
  return { fix };
}
