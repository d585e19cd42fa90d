import { isJsonObject, type JsonObject } from '../../../machines/json.ts';
import { checkpointEvent, GENESIS, type Standing } from './chain-format.ts';

/** Faults of a line's position in its log. */
export type ChainReason =
  | 'prev_hash is missing'
  | 'prev_hash is not that of the first line of a log'
  | 'prev_hash is not the hash the log should continue from'
  | 'prev_hash does not match the previous line'
  | 'the checkpoint does not match the lines before it'
  | 'the lines up to here do not match the kept checkpoint'
  | 'the log ends before the kept checkpoint';

/** A break of the chain; `expected` and `actual` state the difference. */
export interface ChainBreak {
  reason: ChainReason;
  expected?: string;
  actual?: string;
}

/** Start of a log verification, and the checkpoint that the log must reach. */
export interface ChainStart {
  /** Hash of the line before the first one; `GENESIS` for a complete log. */
  from: string;
  /** A checkpoint stored elsewhere; `null` if there is none. */
  kept: Standing | null;
}

/** Verification state of a log's chain: the values that the next line must contain (docs/contract/audit.md). */
export class Chain {
  readonly #start: ChainStart;
  /** Lines of the log before the first one read; `null` until a checkpoint of a continued log states it. */
  #before: number | null;
  #keptSeen = false;
  /** Number of lines read. */
  events = 0;
  head: string;
  /** Lines before the last checkpoint across the whole log, and lines read since. */
  checkpoint: { count: number; after: number } | null = null;

  constructor(start: ChainStart) {
    this.#start = start;
    this.#before = start.from === GENESIS ? 0 : null;
    this.head = start.from;
  }

  /** Returns the break at the next line; `null` if it fits. */
  check(line: JsonObject): ChainBreak | null {
    const actual = line['prev_hash'];
    if (typeof actual !== 'string') return { reason: 'prev_hash is missing' };
    if (actual !== this.head) return { reason: this.#linkReason(), expected: this.head, actual };
    return line['event'] === checkpointEvent ? this.#checkCheckpoint(line) : null;
  }

  /** Advances by one line, whether or not it fits; `hash` is the hash of its bytes. */
  advance(line: JsonObject | null, hash: string): ChainBreak | null {
    if (line?.['event'] === checkpointEvent) this.#takeCheckpoint(line);
    else if (this.checkpoint !== null) this.checkpoint.after += 1;
    this.events += 1;
    this.head = hash;
    return this.#checkKept();
  }

  /** Returns the break at the end of the log; `null` if nothing is missing. */
  end(): ChainBreak | null {
    const { kept } = this.#start;
    if (kept === null || this.#keptSeen) return null;
    const reason = 'the log ends before the kept checkpoint';
    const expected = `${kept.count} lines and head ${kept.head}`;
    return { reason, expected, actual: `${(this.#before ?? 0) + this.events} lines` };
  }

  #linkReason(): ChainReason {
    if (this.events > 0) return 'prev_hash does not match the previous line';
    return this.#start.from === GENESIS
      ? 'prev_hash is not that of the first line of a log'
      : 'prev_hash is not the hash the log should continue from';
  }

  #checkCheckpoint(line: JsonObject): ChainBreak | null {
    const { count, head } = standingOf(line);
    const before = this.#before ?? (isCount(count) ? count - this.events : 0);
    const expected = Math.max(before, 0) + this.events;
    if (count === expected && head === this.head) return null;
    return {
      reason: 'the checkpoint does not match the lines before it',
      expected: `count ${expected} and head ${this.head}`,
      actual: `count ${JSON.stringify(count)} and head ${JSON.stringify(head)}`,
    };
  }

  /** Trusts a checkpoint after a break, so that one break is reported once. */
  #takeCheckpoint(line: JsonObject): void {
    const { count } = standingOf(line);
    if (!isCount(count)) return;
    this.#before = count - this.events;
    this.checkpoint = { count, after: 0 };
  }

  #checkKept(): ChainBreak | null {
    const { kept } = this.#start;
    if (kept === null || this.#keptSeen) return null;
    const isSame = this.head === kept.head;
    if (this.#before === null) {
      this.#keptSeen = isSame;
      return null;
    }
    if (this.#before + this.events !== kept.count) return null;
    this.#keptSeen = true;
    const reason = 'the lines up to here do not match the kept checkpoint';
    return isSame ? null : { reason, expected: kept.head, actual: this.head };
  }
}

function standingOf(line: JsonObject): JsonObject {
  return isJsonObject(line['fields']) ? line['fields'] : {};
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
