import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import pLimit from 'p-limit';
import { codeExtensions, digestFile, isPassing } from './code-digest.ts';

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
    '.pyc',
    '.egg',
  ],
]);

/** Files that can change which code a program loads, whichever folder they lie in. */
const packageFile =
  /^(?:package(?:-lock)?\.json|[tj]sconfig.*\.json|deno\.jsonc?|import_?map.*\.json|pyproject\.toml|pyvenv\.cfg|requirements.*\.txt|setup\.(?:cfg|py)|gemfile(?:\.lock)?|makefile|\..*rc|.*\.config\.json)$/i;

/** Digests that were taken or are being taken, each while its file has the same size and times. */
const taken = new Map<string, { state: string; digest: Promise<string> }>();

const mostTaken = 100_000;

/** Bounds what is read at the same time, for all calls: each takes a descriptor that the daemon needs elsewhere. */
const limit = pLimit(16);

/** Entries that are looked at; a link may lead to all that the machine holds. */
const mostEntries = 500_000;

/** An agent's folder holds too much to digest what its programs are made of. */
export class CodeTooLargeError extends Error {
  readonly code = 'code_too_large';

  constructor(folder: string) {
    super(
      `${folder} and what it links to hold more than ${mostEntries} files, too many to compare; keep data elsewhere`,
    );
  }
}

/**
 * Digests every file of an agent that can change what one of its programs runs: all in the program's own folders, the
 * packages above them, and all code and package files elsewhere. A link counts by its target, and a folder that it leads
 * to as if it lay there. Rejects with CodeTooLargeError, and where a folder or a file cannot be read for now.
 */
export async function digestTree(tree: CodeTree): Promise<TreeDigest> {
  const walk = new Walk(tree);
  await walk.visit(tree.agentDirectory, tree.own.includes(tree.agentDirectory));
  return walk.digest;
}

class Walk {
  readonly digest: TreeDigest = {};
  readonly #tree: CodeTree;
  /** Folders that were visited, links resolved, each with whether all of its files counted. */
  readonly #visited = new Map<string, boolean>();
  #left = mostEntries;

  constructor(tree: CodeTree) {
    this.#tree = tree;
  }

  async visit(folder: string, isWhole: boolean): Promise<void> {
    const before = this.#visited.get(folder);
    if (before === true || before === isWhole) return;
    this.#visited.set(folder, isWhole);
    const entries = await limit(() => entriesOf(folder));
    this.#left -= entries.length;
    if (this.#left < 0) throw new CodeTooLargeError(this.#tree.agentDirectory);
    await Promise.all(entries.map((entry) => this.#see(entry, folder, isWhole)));
  }

  async #see(entry: Dirent, folder: string, isWhole: boolean): Promise<void> {
    const { own, apart } = this.#tree;
    const path = join(folder, entry.name);
    if (entry.name === '.git' || apart.includes(path)) return;
    const isOwn = isWhole || own.includes(path);
    if (entry.isSymbolicLink()) return this.#follow(path, isOwn);
    if (!entry.isDirectory()) {
      if (isOwn || isCode(entry.name)) await this.#take(path);
    } else if (entry.name !== 'node_modules') await this.visit(path, isOwn);
    else if (isWhole || isAbove(folder, own)) await this.visit(path, true);
  }

  async #follow(path: string, isOwn: boolean): Promise<void> {
    const place = await limit(() => folderAt(path));
    if (place === null) return this.#take(path);
    this.#set(path, `link ${this.#name(place)}`);
    if (this.#tree.apart.some((one) => isBelow(one, place))) return;
    // Of a folder above this one only the code counts, since data lies there, too.
    await this.visit(place, isOwn && !isBelow(place, path));
  }

  async #take(path: string): Promise<void> {
    this.#set(path, await limit(() => digestOf(path)));
  }

  #set(path: string, digest: string): void {
    this.digest[this.#name(path)] = digest;
  }

  #name(path: string): string {
    return relative(this.#tree.agentDirectory, path).split(sep).join('/');
  }
}

function isCode(name: string): boolean {
  return loadable.has(extname(name).toLowerCase()) || packageFile.test(name);
}

function isAbove(folder: string, own: readonly string[]): boolean {
  return own.some((one) => isBelow(folder, one));
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/** What may not be read is no code either; a folder must not be left out because the machine is short of something. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isPassing(error)) throw error;
    return [];
  }
}

/** Returns the folder that a link leads to, links resolved; `null` when it leads to none. */
async function folderAt(link: string): Promise<string | null> {
  try {
    return (await stat(link)).isDirectory() ? await realpath(link) : null;
  } catch (error) {
    if (isPassing(error)) throw error;
    return null;
  }
}

async function digestOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  if (found === null) return 'unreadable';
  if (found.isSymbolicLink()) {
    const target = await readlink(path).catch(() => '');
    return `link ${target} ${await digestFile(path)}`;
  }
  const state = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
  const earlier = taken.get(path);
  if (earlier?.state === state) return earlier.digest;
  const digest = digestFile(path);
  if (taken.size >= mostTaken) taken.clear();
  const taking = { state, digest };
  taken.set(path, taking);
  try {
    return await digest;
  } catch (error) {
    if (taken.get(path) === taking) taken.delete(path);
    throw error;
  }
}
