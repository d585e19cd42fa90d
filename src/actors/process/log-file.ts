import { closeSync, constants, existsSync, fstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { codeOf } from '../../machines/error-code.ts';

/** Variable that names the file for the log of a daemon, which then rotates it. */
export const logFileVariable = 'SERVICE_LOG_FILE';

/** Maximum size of a log file in bytes; a full one is renamed to `.1`, and the earlier ones to `.2` and so on. */
export const longestLog = 10 * 1024 * 1024;

/** Number of full files that are kept. */
const keptFiles = 5;

/** A log cannot be written to this path; the message gives reason and remedy. */
export class LogFileError extends Error {
  readonly code = 'file_unusable';
}

/** Opens a log for appending, readable only by its owner. Throws LogFileError for a link, a pipe and a device. */
export function openLogFile(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    throw unusable(path, `cannot be opened (${codeOf(error)})`, error);
  }
  // The open of a pipe or a device succeeds; it would lose the lines, and cannot be rotated.
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw unusable(path, 'is a pipe or a device', undefined);
}

function unusable(path: string, why: string, cause: unknown): LogFileError {
  return new LogFileError(`the log ${path} ${why}; name a file, which need not exist`, { cause });
}

/** Renames a full log to `.1`, and the earlier ones to the next number; the oldest is deleted. */
export function shiftLogs(path: string): void {
  rmSync(`${path}.${keptFiles}`, { force: true });
  for (let number = keptFiles - 1; number > 0; number -= 1) {
    if (existsSync(`${path}.${number}`)) renameSync(`${path}.${number}`, `${path}.${number + 1}`);
  }
  renameSync(path, `${path}.1`);
}
