import type { AuditSinks } from '../sinks/audit-sinks.ts';
import type { LinesUntil } from './committed-lines.ts';
import type { PostgresStore } from './postgres-store.ts';
import { sinksMark } from './sinks-mark.ts';

/**
 * Offers the lines of the log to the sinks as they are committed, as long as is said, from where the daemon
 * before stopped; one that ended at a bad moment offers the last lines again.
 */
export async function offerLines({
  store,
  sinks,
  until,
}: {
  store: Pick<PostgresStore, 'lines' | 'mark' | 'setMark'>;
  sinks: Pick<AuditSinks, 'offer'>;
  until: LinesUntil;
}): Promise<void> {
  for await (const { first, texts } of store.lines(await store.mark(sinksMark), until)) {
    sinks.offer(Buffer.from(texts.map((text) => `${text}\n`).join('')));
    await store.setMark(sinksMark, first + texts.length - 1);
  }
}
