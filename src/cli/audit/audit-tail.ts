import { systemClock } from '../../actors/clock.ts';
import { formatBadLine, formatEvent, tailLines } from '../../actors/records/records.ts';
import type { Session } from '../session.ts';
import { auditPathOf } from './audit-path.ts';

export interface AuditTailOptions {
  dir?: string;
  file?: string;
  task?: string;
  event?: string;
  lines: number;
  follow?: boolean;
}

/**
 * `audit tail`: the latest events of a log, and with --follow those to come (contract section 10). With --json each
 * line is printed as it stands; one that holds no event as `{"bad_line": …}`.
 */
export async function auditTail(
  session: Session,
  { dir, file, task, event, lines, follow = false }: AuditTailOptions,
): Promise<void> {
  const { output, interruption } = session;
  const signal = interruption.listen();
  const tailed = tailLines({
    path: file ?? (await auditPathOf(dir, session)),
    limit: lines,
    follow,
    signal,
    clock: systemClock(),
    ...(task === undefined ? {} : { task }),
    ...(event === undefined ? {} : { event }),
  });
  for await (const { text, event: recorded } of tailed) {
    if (recorded === null) {
      output.line(formatBadLine(text));
      output.json({ bad_line: text });
    } else {
      output.line(formatEvent(recorded));
      if (output.isJson) output.stdout.write(`${text}\n`);
    }
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
}
