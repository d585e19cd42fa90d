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
import { hashBefore } from './import-log.ts';
import type { Lead } from './store-behind-error.ts';
import { wholeLine } from './whole-line.ts';

/** How a log is read beyond its head. */
export interface AheadOptions {
  path: string;
  chain: boolean;
  /** Public keys that every line has to be signed with; `null` for a log that is not signed. */
  keys: PublicKeySet | null;
  /** Is told every line, in order. */
  onLine?: (line: JsonObject) => void;
}

/** The lines of a log that its store does not know. */
export interface LinesAhead extends Lead {
  events: number;
  /** Where the log stands with them. */
  head: AuditHead;
  /** Lines are missing before them, since the file that had them was deleted by age. */
  hasGap: boolean;
}

/** A file of the log and where reading it begins. */
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

/** What there is to read: the rest of the file the store knows, and the files that came after it. */
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

/** Where the store's own file goes on. It may have been finished since, and have its name. */
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

/** The events that say where the log stands. */
const statesTheEnd = new Set<unknown>(['checkpoint', 'audit_rotated']);

/** A log as far as it was read beyond its head. */
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

  /** Goes on at a file whose first line says what came before it. */
  async leap({ path, first }: Part): Promise<void> {
    const hash = await hashBefore(path, first);
    this.head = { ...this.head, events: first - 1, hash };
  }

  /** Takes the lines of a file up to the first that is none; tells whether that was its end. */
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
   * Where the log stands with what was taken; a file that says it is over is archived next, unless another
   * one is there already.
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
    `the task store is older than its audit log, and ${path} does not go on from what it knows; restore the log and the store that belong together, or move both away`,
  );
}
