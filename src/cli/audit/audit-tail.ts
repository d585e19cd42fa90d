import {
  formatBadLine,
  formatEvent,
  loadSharedStore,
  type TailedLine,
  type Tailing,
  tailLines,
} from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { rangeOf } from '../option-values.ts';
import type { Session } from '../session.ts';
import { auditSourceOf, withLog } from './audit-source.ts';

export interface AuditTailOptions {
  dir?: string;
  file?: string;
  task?: string;
  event?: string;
  from?: string;
  to?: string;
  lines?: number;
  follow?: boolean;
}

/** Number of latest events without a range and without --lines. */
const usualLines = 20;

/**
 * `audit tail`: prints the latest events of a log, with a range all events of it, and with --follow new ones
 * (docs/contract/audit.md). With --json,
 * prints each line unchanged; a line that is not an event is printed as `{"bad_line": …}`.
 */
export async function auditTail(
  session: Session,
  { dir, file, task, event, from, to, lines, follow = false }: AuditTailOptions,
): Promise<void> {
  if (follow && to !== undefined) throw endless();
  const signal = session.interruption.listen();
  const tailing: Tailing = {
    limit: lines ?? (from === undefined && to === undefined ? usualLines : null),
    ...rangeOf({ from, to }),
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

function endless(): CliError {
  return new CliError('--follow and --to exclude each other', {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'leave out --to to follow new events',
  });
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
