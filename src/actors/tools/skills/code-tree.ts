import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, extname, join, relative, sep } from 'node:path';
import pLimit from 'p-limit';
import { codeExtensions, digestFile, isPassing } from './code-digest.ts';
import { isCodeName, isLoadedByNeighbors, isProgram } from './code-files.ts';
import { rememberedByState } from './remembered-by-state.ts';

/** SHA-256 of files, by their paths from the agent's folder; what links lead to counts as if it lay where they are. */
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

const digests = rememberedByState<string>();

/** Bounds what is read at the same time, for all calls: each takes a descriptor that the daemon needs elsewhere. */
const limit = pLimit(16);

/** Entries that are looked at; a link may lead to all that the machine holds. */
const mostEntries = 500_000;

/** Folders of the machine, whose programs are no part of an agent, though links lead there. */
const machine = ['/bin', '/lib', '/lib64', '/sbin', '/usr', '/nix', '/proc', '/sys'];

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
 * packages above them, and all code, programs and package files elsewhere. A link counts by its target, and a folder
 * that it leads to as if it lay there. The digest is the same wherever the agent's folder and the targets lie. Rejects
 * with CodeTooLargeError, and where a folder or a file cannot be read for now.
 */
export async function digestTree(tree: CodeTree): Promise<TreeDigest> {
  const walk = new Walk(tree);
  await walk.visit(tree.agentDirectory, tree.own.includes(tree.agentDirectory));
  await walk.visitLinked();
  return walk.digest;
}

/** Digests a file by its content, links followed; all that cannot be read have the same digest. */
export async function digestOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? 'unreadable' : digests(path, found, () => digestFile(path));
}

/** A place outside that a link leads to. */
interface Linked {
  /** Where the link lies, as it is named. */
  name: string;
  place: string;
  isWhole: boolean;
  /** True for the folder of a linked file, of which only its own files count: code may load its neighbors. */
  isShallow: boolean;
}

class Walk {
  readonly digest: TreeDigest = {};
  readonly #tree: CodeTree;
  /** Folders that were visited, links resolved, each with whether all of its files counted. */
  readonly #visited = new Map<string, boolean>();
  /** Where trees begin, each with the name that its entries have before theirs. */
  readonly #roots: { place: string; name: string }[];
  #linked: Linked[] = [];
  /** Folders whose own files were visited, since a link leads to one of them. */
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

  /** Visits what links lead to outside, one after the other by name, so that names do not depend on what was read first. */
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
    // Of a folder above this one only the code counts, since data lies there, too.
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

/** What may not be read is no code either; a folder must not be left out because the machine is short of something. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isPassing(error)) throw error;
    return [];
  }
}

/** Returns what a link leads to, links resolved; `null` when it leads nowhere. */
async function targetOf(link: string): Promise<{ place: string; isFolder: boolean } | null> {
  try {
    return { place: await realpath(link), isFolder: (await stat(link)).isDirectory() };
  } catch (error) {
    if (isPassing(error)) throw error;
    return null;
  }
}
