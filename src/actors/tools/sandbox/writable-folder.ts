import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { isNamedLikeSecret } from './hidden-files.ts';
import { realPlace } from './real-place.ts';

/** A folder to which scripts may write permanently, links resolved, or the reason why it is not allowed. */
export type WritableFolder = { path: string; warning: string | null } | { mistake: string };

/** Maximum entries of a folder that are checked for names of secrets. */
const mostEntries = 1_000;

/**
 * Resolves and validates a folder of `egress.writable`, which need not exist yet. It must lie in the agent's folder
 * (whose own links must be resolved already), neither above nor below a `guarded` path, and apart from entries named
 * like secrets (docs/contract/egress.md).
 */
export async function writableFolder(
  name: string,
  { agentDirectory, guarded }: { agentDirectory: string; guarded: readonly string[] },
): Promise<WritableFolder> {
  if (isAbsolute(name)) return { mistake: 'write this relative to the folder of the agent' };
  const path = await realPlace(join(agentDirectory, name));
  if (path === null || (await isFile(path))) {
    return { mistake: 'this leads to no folder; correct the link or the name' };
  }
  if (path === agentDirectory) {
    return { mistake: 'this is the whole folder of the agent; name one in it, such as work' };
  }
  if (!isWithin(agentDirectory, path)) {
    return { mistake: 'this leads out of the folder of the agent; name one in it, such as work' };
  }
  if (segments(agentDirectory, path).some((each) => isNamedLikeSecret(each, true))) {
    return { mistake: 'this is named like a secret, which scripts may not see; name another' };
  }
  for (const own of guarded) {
    const place = (await realPlace(own)) ?? own;
    if (isWithin(place, path) || isWithin(path, place)) {
      const shown = relative(agentDirectory, own);
      return { mistake: `scripts may not write ${shown}; name a folder apart from it` };
    }
  }
  return { path, warning: await warningOf(path) };
}

async function warningOf(path: string): Promise<string | null> {
  const secret = await firstSecret(path);
  if (secret === null) return null;
  return `scripts may read and write all of it, ${secret} too, which is named like a secret; keep that elsewhere`;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => !found.isDirectory(),
    () => false,
  );
}

function segments(from: string, to: string): string[] {
  return relative(from, to).split(sep);
}

function isWithin(folder: string, path: string): boolean {
  const [first] = segments(folder, path);
  return first !== '..' && !isAbsolute(relative(folder, path));
}

async function firstSecret(folder: string): Promise<string | null> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = entries
    .slice(0, mostEntries)
    .find((entry) => isNamedLikeSecret(join(folder, entry.name), entry.isDirectory()));
  return found?.name ?? null;
}
