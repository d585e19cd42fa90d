import { messageOf } from '../../../machines/message-of.ts';
/** A store that this version cannot use; the message gives reason and remedy. */
export class StoreError extends Error {
  readonly code = 'store_unusable';
}

/** SQLite error codes for a corrupt database and for a file that is not a database. */
const damage: ReadonlySet<number> = new Set([11, 26]);

/** Returns whether a database error means that its file is damaged. */
export function isDamage(error: unknown): boolean {
  const { errcode } = Object(error) as { errcode?: unknown };
  return typeof errcode === 'number' && damage.has(errcode & 0xff);
}

/** Creates the error for a damaged store, with its remedy. */
export function damagedStore(path: string, cause: unknown): StoreError {
  const words = messageOf(cause);
  const reason = words.split('\n').at(-1);
  return new StoreError(
    `${path} is damaged (${reason}); stop the agent and restore the file from a backup, or move it away to start without its tasks`,
    { cause },
  );
}
