import { hash } from 'node:crypto';
import { GENESIS } from './chain-format.ts';
import { LogFileReader } from './log-file-reader.ts';
import { finishedFilesOf } from './log-files.ts';
import { recordedEvent } from './recorded-event.ts';

/** A line of a task as it stands in the log. */
export interface ExportedLine {
  /** The file it stands in. */
  file: string;
  /** Its number in that file, from 1. */
  lineNumber: number;
  /** The line without its newline; valid until the next one. */
  bytes: Uint8Array;
  /** Lower-case hex SHA-256 of `bytes`; empty unless a proof is asked for. */
  sha256: string;
}

/** What was read for an export. */
export interface ExportSummary {
  /** Lines of the task. */
  exported: number;
  /** Lines of the log. */
  count: number;
  /** The hash of its last line; `GENESIS` when there is none or no proof is asked for. */
  head: string;
  /** The first line whose `prev_hash` is not the hash of the line before it; only looked for with a proof. */
  broken: { file: string; lineNumber: number } | null;
}

/** What is taken out of a log. */
export interface Exporting {
  task: string;
  /** True hashes every line of the log, for its place in the chain. */
  withProof: boolean;
}

export interface ExportOptions extends Exporting {
  /** The current file of the log. */
  path: string;
}

/** A part of a log, such as a file, whose lines are read without their newlines; each is valid until the next. */
export interface LogPart {
  path: string;
  lines(): AsyncIterable<Uint8Array>;
}

/**
 * Passes every line of a task to `take`, in the order of the log and over all its files, in memory that does not grow
 * with it. A line that has not ended yet is left out.
 *
 * @throws AuditLogError when a file cannot be read
 */
export function exportTask(
  { path, ...exporting }: ExportOptions,
  take: (line: ExportedLine) => Promise<void>,
): Promise<ExportSummary> {
  return exportFrom(filesOf(path), exporting, take);
}

/** Does what `exportTask` does with a log wherever its parts come from, in their order. */
export async function exportFrom(
  parts: AsyncIterable<LogPart> | Iterable<LogPart>,
  { task, withProof }: Exporting,
  take: (line: ExportedLine) => Promise<void>,
): Promise<ExportSummary> {
  const summary: ExportSummary = { exported: 0, count: 0, head: GENESIS, broken: null };
  const quoted = Buffer.from(JSON.stringify(task));
  for await (const log of parts) {
    let lineNumber = 0;
    for await (const bytes of log.lines()) {
      lineNumber += 1;
      summary.count += 1;
      const file = log.path;
      let sha256 = '';
      if (withProof) {
        if (summary.count > 1 && previousHash(bytes) !== summary.head) {
          summary.broken ??= { file, lineNumber };
        }
        sha256 = hash('sha256', bytes, 'hex');
        summary.head = sha256;
      }
      // Parsing is for the few lines that name the task at all.
      if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(quoted)) continue;
      if (recordedEvent(bytes)?.task_id !== task) continue;
      summary.exported += 1;
      await take({ file, lineNumber, bytes, sha256 });
    }
  }
  return summary;
}

function previousHash(line: Uint8Array): unknown {
  return recordedEvent(line)?.['prev_hash'];
}

/** Opens the current file first, so that a rotation meanwhile hides no line and repeats none. */
async function* filesOf(path: string): AsyncGenerator<LogFileReader> {
  const current = await LogFileReader.open(path);
  try {
    for (const { path: finished } of finishedFilesOf(path)) {
      const log = await LogFileReader.open(finished);
      try {
        if (log.inode !== current.inode) yield log;
      } finally {
        await log.handle.close();
      }
    }
    yield current;
  } finally {
    await current.handle.close();
  }
}
