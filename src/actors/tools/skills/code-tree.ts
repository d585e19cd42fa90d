import { lstat, readdir, readlink } from 'node:fs/promises';
import { dirname, extname, join, relative, sep } from 'node:path';
import { codeExtensions, digestFile } from './code-digest.ts';

/** SHA-256 of files, by their paths from the agent's folder. */
export type TreeDigest = Record<string, string>;

/** Which files count as what a program is made of. */
export interface CodeTree {
  /** The agent's folder, absolute. */
  agentDirectory: string;
  /** Folders all of whose files count, and whose packages are those of every folder above; absolute. */
  own: readonly string[];
  /** Folders and files of data and state, absolute: none of them counts. */
  apart: readonly string[];
}

const loadable = new Set([
  ...codeExtensions,
  ...[
    '.jsx',
    '.tsx',
    '.rb',
    '.pl',
    '.php',
    '.lua',
    '.bash',
    '.wasm',
    '.jar',
    '.node',
    '.so',
    '.pth',
  ],
]);

/** Files that can change which code a program loads, whichever folder they lie in. */
const packageFile =
  /^(?:package(?:-lock)?\.json|[tj]sconfig.*\.json|deno\.jsonc?|import_?map.*\.json|pyproject\.toml|pyvenv\.cfg|requirements.*\.txt|setup\.(?:cfg|py)|gemfile(?:\.lock)?|makefile|\..*rc|.*\.config\.json)$/i;

/** Digests that were taken, each while its file has the same size and times. */
const taken = new Map<string, { state: string; digest: string }>();

const mostTaken = 100_000;

/**
 * Digests every file of an agent that can change what one of its programs runs: all in the program's own folders, the
 * packages above them, and all code and package files elsewhere. A link counts by its target.
 */
export async function digestTree(tree: CodeTree): Promise<TreeDigest> {
  const digest: TreeDigest = {};
  const take = async (path: string): Promise<void> => {
    digest[relative(tree.agentDirectory, path).split(sep).join('/')] = await digestOf(path);
  };
  const visit = async (folder: string, isWhole: boolean): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    await Promise.all(
      entries.map(async (entry) => {
        const path = join(folder, entry.name);
        if (entry.name === '.git' || tree.apart.includes(path)) return;
        const isOwn = isWhole || tree.own.includes(path);
        if (entry.isDirectory()) {
          if (entry.name !== 'node_modules') return visit(path, isOwn);
          return isAbove(folder, tree.own) ? visit(path, true) : undefined;
        }
        if (isOwn || entry.isSymbolicLink() || isCode(entry.name)) await take(path);
      }),
    );
  };
  await visit(tree.agentDirectory, tree.own.includes(tree.agentDirectory));
  return digest;
}

function isCode(name: string): boolean {
  return loadable.has(extname(name).toLowerCase()) || packageFile.test(name);
}

function isAbove(folder: string, own: readonly string[]): boolean {
  return own.some((one) => one === folder || one.startsWith(`${folder}${sep}`));
}

async function digestOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  if (found === null) return 'unreadable';
  if (found.isSymbolicLink()) {
    const target = await readlink(path).catch(() => '');
    return `link ${target} ${await digestFile(join(dirname(path), target))}`;
  }
  const state = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
  const earlier = taken.get(path);
  if (earlier?.state === state) return earlier.digest;
  const digest = await digestFile(path);
  if (taken.size >= mostTaken) taken.clear();
  taken.set(path, { state, digest });
  return digest;
}
