import { relative, sep } from 'node:path';
import type { Log } from '../ports/log.ts';

/** Files of an agent's folder that describe it. */
const told: ReadonlySet<string> = new Set(['service.yaml', 'SKILL.md']);

/** Files of its state that describe its process. */
const state: ReadonlySet<string> = new Set(['serve.json', 'serve.error.json']);

/** A change in a workspace. */
export interface WorkspaceChange {
  /** True for a change of the agent's description, false for a change of its process. */
  isDescription: boolean;
}

/**
 * Watches the configuration and process state of a workspace's agents. `root` must be a real path; links are not
 * followed. Returns a function that stops the watch.
 */
export async function watchWorkspace(
  root: string,
  onChange: (change: WorkspaceChange) => void,
  log: Log,
): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar');
  const watcher = watch(root, {
    ignored: (path) => !isOnTheWay(relative(root, path)),
    followSymlinks: false,
    ignoreInitial: true,
    ignorePermissionErrors: true,
    depth: 3,
  });
  watcher.on('all', (_, path) => {
    const name = relative(root, path).split(sep).at(-1) ?? '';
    if (told.has(name)) onChange({ isDescription: true });
    else if (state.has(name)) onChange({ isDescription: false });
  });
  watcher.on('error', (error) => {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    log.warn({ reason }, 'workspace: some folders are not watched; rescan to see what changed');
  });
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return () => watcher.close();
}

/** True for a watched file and for a parent folder of one. */
function isOnTheWay(path: string): boolean {
  if (path === '') return true;
  const parts = path.split(sep);
  const [top = '', ...below] = parts;
  if (isOfAgent(parts)) return true;
  const isFolder = !top.startsWith('.') && top !== 'node_modules' && !top.includes('\n');
  return isFolder && (below.length === 0 || isOfAgent(below));
}

function isOfAgent([name = '', file, ...deeper]: string[]): boolean {
  if (deeper.length > 0) return false;
  if (file === undefined) return told.has(name) || name === '.service';
  return name === '.service' && state.has(file);
}
