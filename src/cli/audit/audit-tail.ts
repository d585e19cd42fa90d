import {
  formatBadLine,
  formatEvent,
  loadSharedStore,
  type TailedLine,
  type Tailing,
  tailLines,
} from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import type { Session } from '../session.ts';
import { auditSourceOf, withLog } from './audit-source.ts';

export interface AuditTailOptions {
  dir?: string;
  file?: string;
  task?: string;
  event?: string;
  lines: number;
  follow?: boolean;
}

/**
 * `audit tail`: prints the latest events of a log and, with --follow, new ones (docs/contract/audit.md). With --json,
 * prints each line unchanged; a line that is not an event is printed as `{"bad_line": …}`.
 */
export async function auditTail(
  session: Session,
  { dir, file, task, event, lines, follow = false }: AuditTailOptions,
): Promise<void> {
  const signal = session.interruption.listen();
  const tailing: Tailing = {
    limit: lines,
    follow,
    signal,
    clock: systemClock(),
    ...(task === undefined ? {} : { task }),
    ...(event === undefined ? {} : { event }),
  };
  const source = file === undefined ? await auditSourceOf(dir, session) : { path: file };
  if ('path' in source) await show(tailLines({ ...source, ...tailing }), session, signal);
  else {
    const { tailDatabase } = await loadSharedStore();
    await withLog(source.address, (log) => show(tailDatabase(log, tailing), session, signal));
  }
  signal.throwIfAborted();
}

async function show(
  tailed: AsyncIterable<TailedLine>,
  { output }: Session,
  signal: AbortSignal,
): Promise<void> {
  for await (const { text, event } of tailed) {
    if (event === null) {
      output.line(formatBadLine(text));
      output.json({ bad_line: text });
    } else {
      output.line(formatEvent(event));
      if (output.isJson) output.stdout.write(`${text}\n`);
    }
    signal.throwIfAborted();
  }
}
