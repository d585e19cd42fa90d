import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, extname, join, relative, sep } from 'node:path';
import pLimit from 'p-limit';
import { codeExtensions, digestFile, isPassing } from './code-digest.ts';
import { isCodeName, isLoadedByNeighbors, isProgram } from './code-files.ts';
import { rememberedByState } from './remembered-by-state.ts';

/**
 * SHA-256 of files by their paths relative to the agent's folder; targets of links count as if they were located there.
 */
export type TreeDigest = Record<string, string>;

/** Selects the files that make up a program. */
export interface CodeTree {
  /** Absolute path of the agent's folder. */
  agentDirectory: string;
  /** Absolute paths of folders of which all files count, with the packages of all their parent folders. */
  own: readonly string[];
  /** Absolute paths of folders and files with data and state, none of which count. */
  apart: readonly string[];
}

const digests = rememberedByState<string>();

/**
 * Limits concurrent reads across all calls: each one needs a file descriptor, which the daemon also needs elsewhere.
 */
const limit = pLimit(16);

/** Maximum entries visited; a link may lead to the machine's whole file system. */
const mostEntries = 500_000;

/** System folders, whose programs are not part of an agent, even if links lead there. */
const machine = ['/bin', '/lib', '/lib64', '/sbin', '/usr', '/nix', '/proc', '/sys'];

/** An agent's folder has too many files to digest its programs. */
export class CodeTooLargeError extends Error {
  readonly code = 'code_too_large';

  constructor(folder: string) {
    super(
      `${folder} and what it links to hold more than ${mostEntries} files, too many to compare; keep data elsewhere`,
    );
  }
}

/**
 * Digests every file of an agent that can change what one of its programs runs: all files in the program's own folders,
 * the packages above them, and all code, programs and package files elsewhere. A link counts by its target, and a
 * linked folder as if it were located there. The digest does not depend on the location of the agent's folder and the
 * targets. Rejects with CodeTooLargeError, and if a folder or file currently cannot be read.
 */
export async function digestTree(tree: CodeTree): Promise<TreeDigest> {
  const walk = new Walk(tree);
  await walk.visit(tree.agentDirectory, tree.own.includes(tree.agentDirectory));
  await walk.visitLinked();
  return walk.digest;
}

/** Digests a file's content, following links; all unreadable files have the same digest. */
export async function digestOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? 'unreadable' : digests(path, found, () => digestFile(path));
}

/** An external target of a link. */
interface Linked {
  /** Path of the link in the digest. */
  name: string;
  place: string;
  isWhole: boolean;
  /** True for the folder of a linked file: only its direct files count, since the code may load its neighbours. */
  isShallow: boolean;
}

class Walk {
  readonly digest: TreeDigest = {};
  readonly #tree: CodeTree;
  /** Visited folders, links resolved, and whether all of their files counted. */
  readonly #visited = new Map<string, boolean>();
  /** Roots of the visited trees, with the name prefix of their entries. */
  readonly #roots: { place: string; name: string }[];
  #linked: Linked[] = [];
  /** Folders visited because a link leads to one of their files. */
  readonly #neighborsOf = new Set<string>();
  #left = mostEntries;

  constructor(tree: CodeTree) {
    this.#tree = tree;
    this.#roots = [{ place: tree.agentDirectory, name: '' }];
  }

  async visit(folder: string, isWhole: boolean, isShallow = false): Promise<void> {
    const before = this.#visited.get(folder);
    if (before === true || before === isWhole) return;
    if (!isShallow) this.#visited.set(folder, isWhole);
    const entries = await limit(() => entriesOf(folder));
    this.#left -= entries.length;
    if (this.#left < 0) throw new CodeTooLargeError(this.#tree.agentDirectory);
    const hasCode = entries.some(({ name }) => isCodeName(name));
    const seen = isShallow ? entries.filter((entry) => entry.isFile()) : entries;
    await Promise.all(seen.map((entry) => this.#see(entry, folder, { isWhole, hasCode })));
  }

  /**
   * Visits external targets of links in the order of their names, so that names do not depend on the order of reads.
   */
  async visitLinked(): Promise<void> {
    while (this.#linked.length > 0) {
      const round = this.#linked.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      this.#linked = [];
      for (const { name, place, isWhole, isShallow } of round) {
        if (isShallow && this.#neighborsOf.has(place)) continue;
        if (isShallow) this.#neighborsOf.add(place);
        if (this.#rootOf(place) === undefined) this.#roots.push({ place, name });
        if (!isShallow) this.digest[name] = `link ${this.#name(place)}`;
        await this.visit(place, isWhole, isShallow);
      }
    }
  }

  async #see(
    entry: Dirent,
    folder: string,
    { isWhole, hasCode }: { isWhole: boolean; hasCode: boolean },
  ): Promise<void> {
    const { own, apart, agentDirectory } = this.#tree;
    const path = join(folder, entry.name);
    if (entry.name === '.git' || apart.includes(path)) return;
    const isOwn = isWhole || own.includes(path);
    if (entry.isSymbolicLink()) return this.#follow(path, isOwn);
    if (!entry.isDirectory()) {
      const isRoot = folder === agentDirectory;
      const isNeighbor = hasCode && isLoadedByNeighbors(entry.name, isRoot);
      const counts = isOwn || isCodeName(entry.name) || isNeighbor;
      return this.#take(path, counts);
    }
    if (entry.name !== 'node_modules') await this.visit(path, isOwn);
    else if (isWhole || isAbove(folder, own)) await this.visit(path, true);
  }

  async #follow(path: string, isOwn: boolean): Promise<void> {
    const target = await limit(() => targetOf(path));
    if (target === null) return this.#set(path, 'leads nowhere');
    const { place, isFolder } = target;
    const isInside = this.#rootOf(place) !== undefined;
    if (!isFolder) {
      this.#set(
        path,
        `link ${isInside ? this.#name(place) : ''} ${await limit(() => digestOf(path))}`,
      );
      const folder = dirname(place);
      if (!isScript(place) || isBelowAny([...machine, this.#tree.agentDirectory], place)) return;
      this.#linked.push({ name: this.#name(path), place: folder, isWhole: false, isShallow: true });
      return;
    }
    if (isBelowAny(this.#tree.apart, place)) return this.#set(path, `link ${this.#name(place)}`);
    // For a parent folder of this one only code counts, since it contains data as well.
    const isWhole = isOwn && !isBelow(place, path);
    if (!isInside) {
      this.#linked.push({ name: this.#name(path), place, isWhole, isShallow: false });
      return;
    }
    this.#set(path, `link ${this.#name(place)}`);
    await this.visit(place, isWhole);
  }

  async #take(path: string, counts: boolean): Promise<void> {
    const digest = await limit(async () => {
      if (counts) return digestOf(path);
      const found = await lstat(path, { bigint: true }).catch(() => null);
      return found?.isFile() === true && (await isProgram(path, found)) ? digestOf(path) : null;
    });
    if (digest !== null) this.#set(path, digest);
  }

  #set(path: string, digest: string): void {
    this.digest[this.#name(path)] = digest;
  }

  #rootOf(path: string): { place: string; name: string } | undefined {
    return this.#roots.find(({ place }) => isBelow(place, path));
  }

  #name(path: string): string {
    const root = this.#rootOf(path);
    if (root === undefined) return 'elsewhere';
    return join(root.name, relative(root.place, path)).split(sep).join('/');
  }
}

function isScript(path: string): boolean {
  return codeExtensions.has(extname(path));
}

function isAbove(folder: string, own: readonly string[]): boolean {
  return own.some((one) => isBelow(folder, one));
}

function isBelowAny(folders: readonly string[], path: string): boolean {
  return folders.some((one) => isBelow(one, path));
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/** An unreadable folder contains no loadable code; on a system failure it must not be skipped. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isPassing(error)) throw error;
    return [];
  }
}

/** Returns the resolved target of a link; `null` for a dangling one. */
async function targetOf(link: string): Promise<{ place: string; isFolder: boolean } | null> {
  try {
    return { place: await realpath(link), isFolder: (await stat(link)).isDirectory() };
  } catch (error) {
    if (isPassing(error)) throw error;
    return null;
  }
}
