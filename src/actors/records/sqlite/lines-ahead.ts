import { createReadStream, existsSync, statSync } from 'node:fs';
import type { JsonObject } from '../../../machines/json.ts';
import { maximumLineBytes } from '../log/chain-format.ts';
import { verifySignature } from '../log/line-signature.ts';
import { LineSplitter } from '../log/line-splitter.ts';
import { finishedFilesOf, finishedPath } from '../log/log-files.ts';
import { nodeKeyRing, sha256Hex } from '../log/node-crypto.ts';
import type { PublicKeySet } from '../log/public-keys.ts';
import type { AuditHead } from '../store/audit-head.ts';
import { StoreError } from '../store/store-error.ts';
import { hashBefore } from './hash-before.ts';
import type { Lead } from './store-behind-error.ts';
import { wholeLine } from './whole-line.ts';

/** Options for reading a log beyond its head. */
export interface AheadOptions {
  path: string;
  chain: boolean;
  /** Public keys with which every line must be signed; `null` for an unsigned log. */
  keys: PublicKeySet | null;
  /** Called for every line, in order. */
  onLine?: (line: JsonObject) => void;
}

/** Lines of a log that its store does not know. */
export interface LinesAhead extends Lead {
  events: number;
  /** Position of the log including these lines. */
  head: AuditHead;
  /** True if lines before them are missing, because the file that contained them was deleted by age. */
  hasGap: boolean;
}

/** A file of the log with the offset at which to start reading. */
interface Part {
  path: string;
  first: number;
  offset: number;
}

/**
 * Reads what a log holds beyond where its store says it ends, over all its files and in bounded memory; `null`
 * when that is nothing but torn lines. Throws StoreError when lines do not follow
 * from each other in a file that others follow.
 */
export async function linesAhead(
  known: AuditHead,
  options: AheadOptions,
): Promise<LinesAhead | null> {
  const { path } = options;
  const { parts, hasGap } = partsAhead(known, path);
  const [begin] = parts;
  if (begin === undefined) return null;
  const reading = new AheadReading(known, options);
  if (hasGap) await reading.leap(begin);
  const files: string[] = [];
  for (const part of parts) {
    const before = reading.head.events;
    const isSound = await reading.take(part);
    if (!isSound && part !== parts.at(-1)) throw unreadable(part.path);
    if (reading.head.events > before) files.push(part.path);
  }
  const events = reading.head.events - known.events;
  if (events > 0) return { events, files, head: reading.settled(), hasGap };
  const beyond = finishedFilesOf(path).find(({ first }) => first >= known.first);
  if (beyond !== undefined) throw unreadable(beyond.path);
  return null;
}

/** Returns the parts to read: the rest of the store's current file, and the later files. */
function partsAhead(known: AuditHead, path: string): { parts: Part[]; hasGap: boolean } {
  const begin = partOf(known, path);
  const later = finishedFilesOf(path).filter(({ first }) => first > begin.first);
  const hasGap = later.length > 0 && begin.path === path;
  const parts = [
    ...(hasGap ? [] : [begin]),
    ...later.map((file): Part => ({ ...file, offset: 0 })),
    ...(begin.path === path && !hasGap ? [] : [{ path, first: 0, offset: 0 }]),
  ];
  return { parts: parts.filter(({ path: file, offset }) => sizeOf(file) > offset), hasGap };
}

/** Returns the unread rest of the store's current file, which may have been archived and renamed since. */
function partOf({ first, bytes, finishing }: AuditHead, path: string): Part {
  const isArchived = finishing !== null && existsSync(finishedPath(path, finishing.first));
  const [own, offset] =
    finishing === null || isArchived ? [first, bytes] : [finishing.first, finishing.bytes];
  const finished = finishedPath(path, own);
  return { path: existsSync(finished) ? finished : path, first: own, offset };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Events that state the position of the log. */
const statesTheEnd = new Set<unknown>(['checkpoint', 'audit_rotated']);

/** State of reading a log beyond its head. */
class AheadReading {
  head: AuditHead;
  readonly #options: AheadOptions;
  readonly #ring;
  #last: JsonObject | null = null;

  constructor(known: AuditHead, options: AheadOptions) {
    this.#options = options;
    this.head = { ...known, finishing: null };
    this.#ring = options.keys === null ? null : nodeKeyRing(options.keys);
  }

  /** Continues at a file whose first line states the position before it. */
  async leap({ path, first }: Part): Promise<void> {
    const hash = await hashBefore(path, first);
    this.head = { ...this.head, events: first - 1, hash };
  }

  /** Reads a file up to its first invalid line; returns whether that was the end of the file. */
  async take({ path, first, offset }: Part): Promise<boolean> {
    const { head } = this;
    this.head =
      offset > 0
        ? { ...head, first, bytes: offset }
        : { ...head, first: head.events + 1, bytes: 0, opened: '' };
    const splitter = new LineSplitter(maximumLineBytes);
    for await (const chunk of createReadStream(path, { start: offset })) {
      for (const bytes of splitter.push(chunk as Uint8Array)) {
        if (!(await this.#takeLine(bytes))) return false;
      }
      if (splitter.pending > maximumLineBytes) return false;
    }
    return splitter.pending === 0;
  }

  /**
   * Returns the position of the log after the lines read. A file that ends with a rotation is marked for archiving,
   * unless a successor already exists.
   */
  settled(): AuditHead {
    const { events, first, bytes } = this.head;
    if (this.#last?.['event'] !== 'audit_rotated' || bytes === 0) return this.head;
    return { ...this.head, first: events + 1, bytes: 0, opened: '', finishing: { first, bytes } };
  }

  async #takeLine(bytes: Uint8Array): Promise<boolean> {
    const line = wholeLine(bytes, this.head.hash, this.#options.chain);
    if (line === null) return false;
    const asked = { keys: this.#ring, requireSigned: this.#ring !== null };
    const hash = sha256Hex(bytes);
    const size = bytes.length + 1;
    if ((await verifySignature(line, asked)) !== null) return false;
    const { head } = this;
    head.events += 1;
    head.hash = hash;
    head.bytes += size;
    const { ts } = line;
    if (head.opened === '' && typeof ts === 'string') head.opened = ts.slice(0, 10);
    if (statesTheEnd.has(line['event'])) head.checkpointed = head.events;
    this.#last = line;
    this.#options.onLine?.(line);
    return true;
  }
}

function unreadable(path: string): StoreError {
  return new StoreError(
    `the task store is older than its audit log, and ${path} does not continue from its last line; restore the log and the store that belong together, or move both away`,
  );
}
