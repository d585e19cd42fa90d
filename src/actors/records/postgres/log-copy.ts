import { createReadStream, existsSync, mkdirSync, renameSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from '../../ports/log.ts';
import { checkpointEvent } from '../log/chain-format.ts';
import { LineSplitter } from '../log/line-splitter.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import type { LinesUntil } from './committed-lines.ts';
import type { PostgresStore } from './postgres-store.ts';

/** Ports for copying the log. */
export interface LogCopyPorts {
  store: Pick<PostgresStore, 'lines' | 'lineAt'>;
  path: string;
  log: Pick<Log, 'error'>;
  until: LinesUntil;
  /** Receives the number of the last line that is in the file, at the start and after each write. */
  onCopied?: (line: number) => void;
}

const longestLine = 4 * 1024 * 1024;

/**
 * Copies the log of the database to a file, line by line as it grows, until a signal ends it. An existing file is
 * continued; a file that is not a prefix of this log is moved aside. Rejects when the file cannot be written.
 */
export async function copyLog({
  store,
  path,
  log,
  until,
  onCopied = () => undefined,
}: LogCopyPorts): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const written = await beginningOf({ store, path, log });
  const file = await open(path, 'a', 0o600);
  try {
    onCopied(written);
    for await (const { first, texts } of store.lines(written, until)) {
      await file.appendFile(texts.map((text) => `${text}\n`).join(''));
      await file.datasync();
      onCopied(first + texts.length - 1);
    }
  } finally {
    await file.close();
  }
}

/** Returns the number of the last log line in a file, after removing an incomplete line at its end. */
async function beginningOf({
  store,
  path,
  log,
}: Pick<LogCopyPorts, 'store' | 'path' | 'log'>): Promise<number> {
  if (!existsSync(path)) return 0;
  const splitter = new LineSplitter(longestLine);
  let before = 0;
  let lines = 0;
  let bytes = 0;
  let last = new Uint8Array();
  for await (const chunk of createReadStream(path)) {
    for (const line of splitter.push(chunk as Uint8Array)) {
      if (lines === 0) before = linesBefore(line);
      lines += 1;
      bytes += line.length + 1;
      last = new Uint8Array(line);
    }
  }
  const known = lines === 0 ? undefined : await store.lineAt(before + lines);
  if (lines === 0 || known === new TextDecoder().decode(last)) {
    truncateSync(path, bytes);
    return before + lines;
  }
  const aside = `${path}.before-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  renameSync(path, aside);
  log.error(
    { file: aside, lines: before + lines },
    'audit: the file held another log than the database, which may be older; it was moved aside, so compare the two',
  );
  return 0;
}

/** A file that starts in the middle of a log starts with a checkpoint that states the position. */
function linesBefore(first: Uint8Array): number {
  const event = recordedEvent(first);
  const { count } = Object(event?.['fields']) as { count?: unknown };
  return event?.event === checkpointEvent && typeof count === 'number' ? count : 0;
}
