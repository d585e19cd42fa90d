import { hash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { ReceiptAnswer, ReceiptSource } from '../../ports/receipts.ts';
import type { LineSigner } from './line-signer.ts';
import { type HashedLine, receiptClaims } from './receipt-claims.ts';
import { recordedEvent } from './recorded-event.ts';
import { signReceipt } from './sign-receipt.ts';

export interface ReceiptsParts {
  /** Passes on every line of a task, oldest first, each without its newline and valid until the next. */
  readTask: (taskId: string, take: (line: Uint8Array) => void) => Promise<void>;
  /** `null` if signing is off. */
  signer: LineSigner | null;
  clock: Pick<Clock, 'now'>;
}

/** Issues receipts from the log. One request at a time reads the log. */
export class Receipts implements ReceiptSource {
  readonly #parts: ReceiptsParts;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(parts: ReceiptsParts) {
    this.#parts = parts;
  }

  async issue(taskId: string, callId: string): Promise<ReceiptAnswer> {
    const { signer, clock } = this.#parts;
    if (signer === null) return { kind: 'unsigned' };
    const read = this.#reading.then(() => this.#linesOf(taskId));
    this.#reading = read.catch(() => undefined);
    const claims = receiptClaims(await read, callId);
    if (typeof claims === 'string') return { kind: claims };
    const issued = { ...claims, issued_at: new Date(clock.now()).toISOString() };
    return { kind: 'issued', receipt: signReceipt(issued, signer) };
  }

  async #linesOf(taskId: string): Promise<HashedLine[]> {
    const lines: HashedLine[] = [];
    await this.#parts.readTask(taskId, (bytes) => {
      const line = recordedEvent(bytes);
      if (line !== null) lines.push({ line, sha256: hash('sha256', bytes, 'hex') });
    });
    return lines;
  }
}
