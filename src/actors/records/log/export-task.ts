import { hash } from 'node:crypto';
import { isJsonObject, parseJson } from '../../../machines/json.ts';
import { isInRange, type TimeRange } from '../../../machines/time-range.ts';
import { GENESIS } from './chain-format.ts';
import { LogFileReader } from './log-file-reader.ts';
import { finishedFilesOf } from './log-files.ts';
import { standingBefore } from './pruned-at.ts';
import { recordedEvent } from './recorded-event.ts';

/** An exported line of the log. */
export interface ExportedLine {
  file: string;
  /** Line number in that file, from 1. */
  lineNumber: number;
  /** Number among all read lines of the log, from 1: among all remaining ones with a proof. */
  number: number;
  /** The line without its newline; valid until the next one. */
  bytes: Uint8Array;
  /** Lower-case hex SHA-256 of `bytes`; empty unless links are checked. */
  sha256: string;
}

/** Summary of an export. */
export interface ExportSummary {
  /** Number of exported lines. */
  exported: number;
  /** Number of lines of the log. */
  count: number;
  /** Hash of the log's last line; `GENESIS` if there is none or links are not checked. */
  head: string;
  /** The first checked line whose `prev_hash` is not the hash of the previous line. */
  broken: { file: string; lineNumber: number; number: number } | null;
}

/** Options of an export. */
export interface Exporting extends TimeRange {
  /** Only lines of this task; `null` for all lines of the range. */
  task: string | null;
  /** True hashes every line of the log and checks all links, to prove the position of lines in the chain. */
  withProof: boolean;
  /** True hashes every read line and checks the links from the first exported line on. */
  withLinks?: boolean;
}

export interface ExportOptions extends Exporting {
  /** Path of the log's current file. */
  path: string;
}

/** Receives an exported line; false ends the export. */
export type TakeLine = (line: ExportedLine) => Promise<boolean>;

/** A part of a log, such as a file. Its lines come without newlines; each is valid until the next. */
export interface LogPart {
  path: string;
  lines(): AsyncIterable<Uint8Array>;
}

/**
 * Passes every line of a task and a range to `take`, in the order of the log and across all its files, in constant
 * memory. An incomplete last line is skipped. Without a proof only the part of the log that can lie in the range is read.
 *
 * @throws AuditLogError when a file cannot be read
 */
export function exportTask(
  { path, ...exporting }: ExportOptions,
  take: TakeLine,
): Promise<ExportSummary> {
  const { withProof, from, to } = exporting;
  const isWhole = withProof || (from === undefined && to === undefined);
  const files = filesOf(path, isWhole ? null : exporting);
  return exportFrom(files, exporting, take, { startsLog: isWhole });
}

/** Like `exportTask`, for a log given as an ordered sequence of parts. `startsLog` if its first line is that of the log. */
export async function exportFrom(
  parts: AsyncIterable<LogPart> | Iterable<LogPart>,
  { task, withProof, withLinks = withProof, ...range }: Exporting,
  take: TakeLine,
  { startsLog = false } = {},
): Promise<ExportSummary> {
  const summary: ExportSummary = { exported: 0, count: 0, head: GENESIS, broken: null };
  const quoted = task === null ? null : Buffer.from(JSON.stringify(task));
  for await (const log of parts) {
    let lineNumber = 0;
    for await (const bytes of log.lines()) {
      lineNumber += 1;
      summary.count += 1;
      const file = log.path;
      // Only lines whose bytes contain the task id are parsed.
      const isWanted =
        (quoted === null || viewOf(bytes).includes(quoted)) && isSelected(bytes, task, range);
      const before = summary.head;
      const sha256 = withLinks ? hash('sha256', bytes, 'hex') : '';
      if (withLinks) summary.head = sha256;
      if (isWanted) summary.exported += 1;
      const isFirst = summary.count === 1;
      const isChecked = withLinks && startsLog && !withProof;
      const isCut = isFirst && isChecked && standingBefore(bytes) === null;
      const isLinked = withLinks && (isFirst ? isCut : withProof || summary.exported > 0);
      if (isLinked && summary.broken === null && previousHash(bytes) !== before) {
        summary.broken = { file, lineNumber, number: summary.count };
      }
      if (!isWanted) continue;
      if (!(await take({ file, lineNumber, number: summary.count, bytes, sha256 }))) return summary;
    }
  }
  return summary;
}

function viewOf(line: Uint8Array): Buffer {
  return Buffer.from(line.buffer, line.byteOffset, line.length);
}

function isSelected(line: Uint8Array, task: string | null, range: TimeRange): boolean {
  const event = recordedEvent(line);
  if (event === null || (task !== null && event.task_id !== task)) return false;
  return isInRange(Date.parse(event.ts), range);
}

function previousHash(line: Uint8Array): unknown {
  const value = parseJson(new TextDecoder().decode(line));
  return isJsonObject(value) ? value['prev_hash'] : undefined;
}

/** Opens the current file first, so that a concurrent rotation neither hides nor repeats a line. */
async function* filesOf(path: string, range: TimeRange | null): AsyncGenerator<LogFileReader> {
  const current = await LogFileReader.open(path);
  try {
    for (const { path: finished } of finishedFilesOf(path)) {
      const log = await LogFileReader.open(finished);
      try {
        if (log.inode === current.inode) continue;
        if (range !== null) await log.restrict(range);
        yield log;
      } finally {
        await log.handle.close();
      }
    }
    if (range !== null) await current.restrict(range);
    yield current;
  } finally {
    await current.handle.close();
  }
}
