import { realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { Log } from '../ports.ts';

/** Folders matter through the files in them, which have events of their own. */
const fileEvents: ReadonlySet<string> = new Set(['add', 'change', 'unlink']);

/** A watch that lasts until it is closed. */
export interface FileWatch {
  close(): Promise<void>;
}

export interface WatchOptions {
  /** The agent's folder. */
  directory: string;
  /** Path of the main skill file within it. */
  mainSkill: string;
  /** Epoch milliseconds at which the files were last read: what changed later is told of. */
  since: number;
  /** Hears the path of the file within the folder. */
  onChange: (file: string) => void;
  log: Log;
}

/**
 * Watches the files that the card is made from: `service.yaml`, the main skill file, `skills/*.md` and
 * `skills/<name>/SKILL.md`, also those yet to come. Links are not followed. Nothing is told any more once
 * `close` has resolved.
 */
export async function watchFiles(options: WatchOptions): Promise<FileWatch> {
  // Loaded once the agent answers, so that no start waits for it.
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
    // The first look at the folder shows every file once; only what is newer than the card counts.
    // A file that was written in the very millisecond before it was read is in the card.
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

/** True for the files a card is made from and the folders on the way to them. */
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
