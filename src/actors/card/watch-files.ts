import { realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { Log } from '../ports/log.ts';

/** Folder events are ignored; the files in them emit their own events. */
const fileEvents: ReadonlySet<string> = new Set(['add', 'change', 'unlink']);

/** A running file watch. */
export interface FileWatch {
  close(): Promise<void>;
}

export interface WatchOptions {
  directory: string;
  /** Path of the main skill file, relative to the folder. */
  mainSkill: string;
  /** Time of the last read of the files, in epoch milliseconds; later changes are reported. */
  since: number;
  /** Called with the path of the changed file, relative to the folder. */
  onChange: (file: string) => void;
  log: Log;
}

/**
 * Watches the files of the card, including ones created later: `service.yaml`, the main skill file, `skills/*.md` and
 * `skills/<name>/SKILL.md`. Links are not followed. Emits nothing after `close` has resolved.
 */
export async function watchFiles(options: WatchOptions): Promise<FileWatch> {
  // Loaded after the agent is listening, so it does not delay start-up.
  const { watch } = await import('chokidar');
  const directory = await realpath(options.directory);
  const main = relative(directory, resolve(directory, options.mainSkill));
  const watcher = watch(directory, {
    ignored: (path) => !isOnTheWay(relative(directory, path), main),
    followSymlinks: false,
    alwaysStat: true,
    ignorePermissionErrors: true,
  });
  let isReady = false;
  watcher.on('all', (event, path, stats) => {
    // The initial scan reports every file; only files newer than the card count. A file written in the same millisecond
    // as the read is already in the card.
    const isChange = isReady || (stats !== undefined && Math.floor(stats.ctimeMs) > options.since);
    const file = relative(directory, path);
    if (isChange && fileEvents.has(event) && isCardFile(file, main)) options.onChange(file);
  });
  watcher.on('ready', () => {
    isReady = true;
  });
  watcher.on('error', (error) => {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    options.log.warn({ reason }, 'card: some files are not watched; restart after changing them');
  });
  return { close: () => watcher.close() };
}

/** Returns whether a path is a card file or a parent folder of one. */
function isOnTheWay(path: string, main: string): boolean {
  if (path === '' || path === 'skills' || main.startsWith(path + sep)) return true;
  const [top, name, file] = path.split(sep);
  return isCardFile(path, main) || (top === 'skills' && !isHidden(name) && file === undefined);
}

function isCardFile(path: string, main: string): boolean {
  if (path === 'service.yaml' || path === main) return true;
  const [top, name = '', file, ...deeper] = path.split(sep);
  if (top !== 'skills' || isHidden(name) || deeper.length > 0) return false;
  return file === undefined ? name.endsWith('.md') : file === 'SKILL.md';
}

function isHidden(name: string | undefined): boolean {
  return name?.startsWith('.') ?? false;
}
