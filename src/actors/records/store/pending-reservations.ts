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
  sumOf(name: string, key: string, { after, but }: { after: number; but: string }): string {
    return this.#rows('limit', { after, but })
      .filter((row) => row.name === name && row.key === key)
      .reduce((sum, { amount }) => plus(sum, amount), '0');
  }

  /** Returns the newest row of an effect after a moment by calls other than one; `undefined` for none. */
  newestOf(key: string, of: { after: number; but: string }): LedgerRow | undefined {
    return this.#rows('effect', of).findLast((row) => row.key === key);
  }

  /** Returns the keys of a limit of which something is reserved after a moment. */
  keysOf(name: string, after: number): string[] {
    const rows = this.#rows('limit', { after, but: '' });
    return rows.flatMap((row) => (row.name === name ? [row.key] : []));
  }

  #rows(kind: LedgerRow['kind'], { after, but }: { after: number; but: string }): LedgerRow[] {
    return [...this.#pending]
      .filter(([callId, { at }]) => callId !== but && at > after)
      .flatMap(([, { rows }]) => rows.filter((row) => row.kind === kind));
  }
}
