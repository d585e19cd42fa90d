/** A store that this version cannot use; the message says why and what to do. */
export class StoreError extends Error {
  readonly code = 'store_unusable';
}

/** What SQLite calls a file whose pages contradict each other, and one that is none of its own. */
const damage: ReadonlySet<number> = new Set([11, 26]);

/** Returns whether an error of the database says that its file is damaged. */
export function isDamage(error: unknown): boolean {
  const { errcode } = Object(error) as { errcode?: unknown };
  return typeof errcode === 'number' && damage.has(errcode & 0xff);
}

/** Says that the file of a store is damaged, and what to do. */
export function damagedStore(path: string, cause: unknown): StoreError {
  const words = cause instanceof Error ? cause.message : String(cause);
  const reason = words.split('\n').at(-1);
  return new StoreError(
    `${path} is damaged (${reason}); stop the agent and restore the file from a backup, or move it away to start without its tasks`,
    { cause },
  );
}
