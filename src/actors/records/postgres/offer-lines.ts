import type { AuditSinks } from '../sinks/audit-sinks.ts';
import type { PostgresStore } from './postgres-store.ts';

/** Where the sinks stand in the log is kept under this name. */
const mark = 'sinks';

/**
 * Offers the lines of the log to the sinks as they are committed, until the signal is aborted, from where the daemon
 * before stopped; one that ended at a bad moment offers the last lines again.
 */
export async function offerLines({
  store,
  sinks,
  signal,
}: {
  store: Pick<PostgresStore, 'lines' | 'mark' | 'setMark'>;
  sinks: Pick<AuditSinks, 'offer'>;
  signal: AbortSignal;
}): Promise<void> {
  for await (const { first, texts } of store.lines(await store.mark(mark), signal)) {
    sinks.offer(Buffer.from(texts.map((text) => `${text}\n`).join('')));
    await store.setMark(mark, first + texts.length - 1);
  }
}
