import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, parse, relative, sep } from 'node:path';

/** Names of folders and files that hold secrets. */
const secretName =
  /^(\.service|\.env(\..*)?|\.git|\.ssh|\.aws|\.gnupg|\.kube|\.docker|\.netrc|\.npmrc|\.pypirc|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|jks|keystore))$/i;

/** A folder with this name holds secrets, unless it is a skill about them. */
const secretFolder = /^(secret|credential|token|password)s?$/i;

/** Words in the name of a file that holds secrets, unless the file is code or prose. */
const secretWord = /(^|[^a-z0-9])(secret|credential|cred|token|password|passwd)s?([^a-z0-9]|$)/i;
const codeOrProse = /\.(sh|py|[cm]?[jt]s|md)$/i;

/** Configuration of an agent may contain tokens, and scripts do not need it. */
const configurationFile = /^(service|.*-config)\.ya?ml$/i;

/** Maximum entries; scanning more at every call would take too long. */
const mostEntries = 10_000;

/** The agent's folder has too many entries to ensure that no secret is visible. */
export class FolderTooLargeError extends Error {
  readonly code = 'folder_too_large';

  constructor(folder: string) {
    super(
      `${folder} holds more than ${mostEntries} files, too many to hide its secrets; keep data elsewhere`,
    );
  }
}

/** An entry that a sandbox shows or hides. */
export type Shown =
  | { kind: 'bind'; path: string }
  | { kind: 'link'; path: string }
  | { kind: 'hideFolder' | 'hideFile'; path: string };

/**
 * Lists the parts of the agent's folder that a script may see: its entries one by one, so that later ones stay hidden,
 * without the configuration, entries named like secrets, and `hidden` paths at any depth with their companions, such as
 * `tasks.db-wal` and `audit-000000000001.ndjson`. Sockets and other special files are hidden as well. Skips
 * `node_modules` and `writable` folders, which belong to scripts. Throws FolderTooLargeError.
 */
export async function shownEntries(
  folder: string,
  { hidden, writable }: { hidden: readonly string[]; writable: readonly string[] },
): Promise<Shown[]> {
  const budget = { left: mostEntries };
  const isHiddenPath = await hider(hidden);
  const isHidden = (entry: Dirent, path: string) => isHiddenPath(path, entry.isDirectory());
  const isLookedInto = (entry: Dirent, path: string) =>
    entry.name !== 'node_modules' && !writable.includes(path);
  const hiddenBelow = async (parent: string): Promise<Shown[]> => {
    const found: Shown[] = [];
    for (const entry of await entriesOf(parent)) {
      if (--budget.left < 0) throw new FolderTooLargeError(folder);
      const path = join(parent, entry.name);
      if (entry.isSymbolicLink()) continue;
      if (isHidden(entry, path)) {
        found.push({ kind: entry.isDirectory() ? 'hideFolder' : 'hideFile', path });
      } else if (entry.isDirectory()) {
        if (isLookedInto(entry, path)) found.push(...(await hiddenBelow(path)));
      } else if (!entry.isFile()) {
        // Even in a read-only folder, sockets could be connected to.
        found.push({ kind: 'hideFile', path });
      }
    }
    return found;
  };
  const shown: Shown[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (isHidden(entry, path) || isConfiguration(entry.name)) continue;
    if (entry.isSymbolicLink()) shown.push({ kind: 'link', path });
    else if (entry.isFile()) shown.push({ kind: 'bind', path });
    else if (entry.isDirectory()) {
      shown.push({ kind: 'bind', path });
      if (isLookedInto(entry, path)) shown.push(...(await hiddenBelow(path)));
    }
  }
  return shown;
}

/** Returns the rule by which `shownEntries` hides a file or folder wherever it is. */
async function hider(
  hidden: readonly string[],
): Promise<(path: string, isFolder: boolean) => boolean> {
  const paths = [...hidden, ...(await Promise.all(hidden.map(realSpelling)))];
  return (path, isFolder) =>
    isNamedLikeSecret(path, isFolder) || paths.some((secret) => belongsTo(secret, path));
}

/** Returns whether `shownEntries` shows an existing path of the agent's folder, without listing the folder. */
export async function isWithinShown(
  path: string,
  {
    agentDirectory: folder,
    hidden,
    writable,
  }: { agentDirectory: string; hidden: readonly string[]; writable: readonly string[] },
): Promise<boolean> {
  if (writable.some((place) => path === place || path.startsWith(`${place}/`))) return true;
  const isHidden = await hider(hidden);
  const names = relative(folder, path).split(sep);
  if (isConfiguration(names[0] ?? '')) return false;
  for (const index of names.keys()) {
    const part = join(folder, ...names.slice(0, index + 1));
    if (isHidden(part, (await stat(part)).isDirectory())) return false;
    // `shownEntries` hides nothing below such a folder.
    if (names[index] === 'node_modules') return true;
  }
  return true;
}

/** Returns whether the name of a file or folder indicates secrets. */
export function isNamedLikeSecret(path: string, isFolder: boolean): boolean {
  const name = basename(path);
  if (secretName.test(name)) return true;
  if (isFolder) return secretFolder.test(name) && basename(dirname(path)) !== 'skills';
  return secretWord.test(name) && !codeOrProse.test(name);
}

/** Returns whether a file name is that of a configuration of an agent or a channel. */
export function isConfiguration(name: string): boolean {
  return configurationFile.test(name);
}

/**
 * Returns whether a path is a secret one or a companion of it, such as `tasks.db-wal` and `audit-000000000001.ndjson`.
 */
export function belongsTo(secret: string, path: string): boolean {
  if (path === secret || path.startsWith(`${secret}-`) || path.startsWith(`${secret}.`))
    return true;
  const { dir, name, ext } = parse(secret);
  const { dir: folder, name: found, ext: kind } = parse(path);
  const isNumbered = found.startsWith(`${name}-`) && /^\d+$/.test(found.slice(name.length + 1));
  return folder === dir && kind === ext && isNumbered;
}

/** Resolves the links in a path's folder; the file need not exist yet. */
export async function realSpelling(path: string): Promise<string> {
  const folder = await realpath(dirname(path)).catch(() => dirname(path));
  return realpath(path).catch(() => join(folder, basename(path)));
}

function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true });
}
