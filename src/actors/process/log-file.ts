import { constants, existsSync, openSync, renameSync, rmSync } from 'node:fs';

/** Variable that names the file for the log of a daemon, which then rotates it. */
export const logFileVariable = 'SERVICE_LOG_FILE';

/** Maximum size of a log file in bytes; a full one is renamed to `.1`, and the earlier ones to `.2` and so on. */
export const longestLog = 10 * 1024 * 1024;

/** Number of full files that are kept. */
const keptFiles = 5;

/** Opens a log for appending, readable only by its owner. Throws for a link and a pipe. */
export function openLogFile(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  return openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
}

/** Renames a full log to `.1`, and the earlier ones to the next number; the oldest is deleted. */
export function shiftLogs(path: string): void {
  rmSync(`${path}.${keptFiles}`, { force: true });
  for (let number = keptFiles - 1; number > 0; number -= 1) {
    if (existsSync(`${path}.${number}`)) renameSync(`${path}.${number}`, `${path}.${number + 1}`);
  }
  renameSync(path, `${path}.1`);
}
