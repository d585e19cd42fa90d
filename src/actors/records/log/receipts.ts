import type { JsonObject } from '../../../machines/json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ReceiptAnswer, ReceiptSource } from '../../ports/receipts.ts';
import type { KeyRing } from './key-ring.ts';
import type { LineSigner } from './line-signer.ts';
import { readLine } from './read-line.ts';
import { type HashedLine, receiptClaims } from './receipt-claims.ts';
import { signReceipt } from './sign-receipt.ts';
import { citedHashes, verifyCited } from './verify-receipt.ts';

/** A line of a log without its newline, valid until the next. */
export interface TaskLine {
  bytes: Uint8Array;
  /** Lower-case hex SHA-256 of `bytes`. */
  sha256: string;
  /** Number in the order of the log. */
  number: number;
}

export interface ReceiptsParts {
  /**
   * Passes on every line of a task, oldest first. Resolves with the number of the first line from the first of them on
   * whose `prev_hash` is not the hash of the line before; `null` for none.
   */
  readTask: (taskId: string, take: (line: TaskLine) => void) => Promise<number | null>;
  /** `null` if signing is off. */
  signer: LineSigner | null;
  /** The published keys of the log. */
  keys: KeyRing;
  clock: Pick<Clock, 'now'>;
}

/** A line that lost only its signature still names its key. */
function isSigned(line: JsonObject | undefined): boolean {
  return line?.['sig'] !== undefined || line?.['kid'] !== undefined;
}

/** The lines of a task with the first fault of the log among them. */
interface TaskReading {
  lines: HashedLine[];
  fault: string | null;
}

/**
 * Issues receipts from the log. Before a receipt is signed, each line that it cites has its valid signature, and the links
 * are checked from the first line of the task to its last. One request at a time reads the log.
 */
export class Receipts implements ReceiptSource {
  readonly #parts: ReceiptsParts;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(parts: ReceiptsParts) {
    this.#parts = parts;
  }

  async issue(taskId: string, callId: string): Promise<ReceiptAnswer> {
    const { signer, keys, clock } = this.#parts;
    if (signer === null) return { kind: 'unsigned' };
    const read = this.#reading.then(() => this.#read(taskId));
    this.#reading = read.catch(() => undefined);
    const { lines, fault } = await read;
    if (fault !== null) return { kind: 'broken', reason: fault };
    const claims = receiptClaims(lines, callId);
    if (typeof claims === 'string') return { kind: claims };
    const found = new Map(lines.map(({ line, sha256 }) => [sha256, line]));
    if (!isSigned(found.get(citedHashes(claims)[0] ?? ''))) return { kind: 'earlier' };
    const reason = await verifyCited(claims, found, keys);
    if (reason !== null) return { kind: 'broken', reason };
    const issued = { ...claims, issued_at: new Date(clock.now()).toISOString() };
    return { kind: 'issued', receipt: signReceipt(issued, signer) };
  }

  async #read(taskId: string): Promise<TaskReading> {
    const lines: HashedLine[] = [];
    let fault: string | null = null;
    let last = 0;
    const broken = await this.#parts.readTask(taskId, ({ bytes, sha256, number }) => {
      const line = readLine(bytes);
      last = number;
      if (typeof line === 'string') fault ??= `the line with the hash ${sha256}: ${line}`;
      else lines.push({ line, sha256 });
    });
    const isUnlinked = broken !== null && broken <= last;
    const unlinked = `line ${broken}: prev_hash is not the hash of the line before`;
    return { lines, fault: fault ?? (isUnlinked ? unlinked : null) };
  }
}
