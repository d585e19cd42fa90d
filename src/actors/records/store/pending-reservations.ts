import { plus } from '../../../machines/exact-decimal.ts';
import { pendingTime } from '../../ports/ledger.ts';
import type { LedgerRow } from './ledger-rows.ts';

/** What is reserved for calls that have not started, in the memory of one daemon. */
export class PendingReservations {
  /** By call, oldest first. */
  readonly #pending = new Map<string, { rows: readonly LedgerRow[]; at: number }>();

  /** Reserves rows for a call, in place of what was reserved for it before. */
  put(callId: string, rows: readonly LedgerRow[], at: number): void {
    this.#pending.delete(callId);
    if (rows.length > 0) this.#pending.set(callId, { rows, at });
  }

  /** Returns the rows of a call, which the commit of its start stores. */
  rowsOf(callId: string): readonly LedgerRow[] {
    return this.#pending.get(callId)?.rows ?? [];
  }

  drop(callId: string): void {
    this.#pending.delete(callId);
  }

  /** Drops the reservations that ended by a time, also if the clock was set since. Their calls cannot start any more. */
  dropEnded(now: number): void {
    for (const [callId, { at }] of this.#pending) {
      if (Math.abs(now - at) >= pendingTime) this.#pending.delete(callId);
    }
  }

  /** Returns what is reserved of a key of a limit after a moment by calls other than one. */
  sumOf(name: string, key: string, { after, but }: Others): string {
    let sum = '0';
    this.#each('limit', { after, but }, (row) => {
      if (row.name === name && row.key === key) sum = plus(sum, row.amount);
    });
    return sum;
  }

  /** Returns the newest row of an effect by calls other than one; `undefined` for none. */
  newestOf(key: string, but: string): LedgerRow | undefined {
    let newest: LedgerRow | undefined;
    this.#each('effect', { after: Number.MIN_SAFE_INTEGER, but }, (row) => {
      if (row.key === key) newest = row;
    });
    return newest;
  }

  /** Returns the keys of a limit of which something is reserved after a moment. */
  keysOf(name: string, after: number): string[] {
    const keys: string[] = [];
    this.#each('limit', { after, but: '' }, (row) => {
      if (row.name === name) keys.push(row.key);
    });
    return keys;
  }

  /** Takes time with the number of reservations, so it creates nothing. */
  #each(kind: LedgerRow['kind'], { after, but }: Others, take: (row: LedgerRow) => void): void {
    for (const [callId, { rows, at }] of this.#pending) {
      if (callId === but || at <= after) continue;
      for (const row of rows) if (row.kind === kind) take(row);
    }
  }
}

/** Reservations after a moment, in epoch milliseconds, of all calls but one. */
interface Others {
  after: number;
  but: string;
}
