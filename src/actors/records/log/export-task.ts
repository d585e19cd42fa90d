import { hash } from 'node:crypto';
import { GENESIS } from './chain-format.ts';
import { LogFileReader } from './log-file-reader.ts';
import { finishedFilesOf } from './log-files.ts';
import { recordedEvent } from './recorded-event.ts';

/** A line of a task in the log. */
export interface ExportedLine {
  file: string;
  /** Line number in that file, from 1. */
  lineNumber: number;
  /** The line without its newline; valid until the next one. */
  bytes: Uint8Array;
  /** Lower-case hex SHA-256 of `bytes`; empty unless a proof is requested. */
  sha256: string;
}

/** Summary of an export. */
export interface ExportSummary {
  /** Number of lines of the task. */
  exported: number;
  /** Number of lines of the log. */
  count: number;
  /** Hash of the log's last line; `GENESIS` if there is none or no proof is requested. */
  head: string;
  /** The first line whose `prev_hash` is not the hash of the previous line; determined only with a proof. */
  broken: { file: string; lineNumber: number } | null;
}

/** Options of an export. */
export interface Exporting {
  task: string;
  /** True hashes every line of the log, to prove the position of lines in the chain. */
  withProof: boolean;
}

export interface ExportOptions extends Exporting {
  /** Path of the log's current file. */
  path: string;
}

/** A part of a log, such as a file. Its lines come without newlines; each is valid until the next. */
export interface LogPart {
  path: string;
  lines(): AsyncIterable<Uint8Array>;
}

/**
 * Passes every line of a task to `take`, in the order of the log and across all its files, in constant memory. An
 * incomplete last line is skipped.
 *
 * @throws AuditLogError when a file cannot be read
 */
export function exportTask(
  { path, ...exporting }: ExportOptions,
  take: (line: ExportedLine) => Promise<void>,
): Promise<ExportSummary> {
  return exportFrom(filesOf(path), exporting, take);
}

/** Like `exportTask`, for a log given as an ordered sequence of parts. */
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
      // Only lines whose bytes contain the task id are parsed.
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

/** Opens the current file first, so that a concurrent rotation neither hides nor repeats a line. */
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
