import { realpath } from 'node:fs/promises';
import { isWithinShown } from './hidden-files.ts';
import { systemPlaces } from './system-places.ts';

/** What a sandbox shows of an agent's folder. */
export interface SandboxView {
  /** The agent's folder, links resolved. */
  agentDirectory: string;
  /** Hidden absolute paths in it, in addition to entries named like secrets. */
  hidden: readonly string[];
  /** Folders in it, links resolved, to which programs may write. */
  writable: readonly string[];
}

/**
 * Returns whether a program in the sandbox sees an existing file or folder whole: neither the path nor its links lead to
 * a place that the sandbox hides. A folder above a hidden one is not whole.
 */
export async function isVisible(path: string, view: SandboxView): Promise<boolean> {
  const real = await realpath(path);
  return (await isShown(path, view)) && (await isShown(real, view));
}

async function isShown(path: string, view: SandboxView): Promise<boolean> {
  if (path === view.agentDirectory) return true;
  if (path.startsWith(`${view.agentDirectory}/`)) return isWithinShown(path, view);
  return systemPlaces.some((place) => path === place || path.startsWith(`${place}/`));
}
