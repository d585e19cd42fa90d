import type { AuditSinks } from '../sinks/audit-sinks.ts';
import type { LinesUntil } from './committed-lines.ts';
import type { PostgresStore } from './postgres-store.ts';
import { sinksMark } from './sinks-mark.ts';

/**
 * Sends committed log lines to the sinks until a signal ends it, starting where the previous daemon stopped. After a
 * crash the last lines are sent again.
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
