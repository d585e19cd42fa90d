import { pendingTime } from '../../ports/ledger.ts';
import { type Exact, zero } from './exact-sum.ts';
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

  /** Returns what is reserved of a key of a limit by calls other than one. */
  sumOf(name: string, key: string, but: string): Exact {
    return this.#rows('limit', but)
      .filter((row) => row.name === name && row.key === key)
      .reduce((sum, { amount }) => sum.plus(amount), zero);
  }

  /** Returns the newest row of an effect by calls other than one; `undefined` for none. */
  newestOf(key: string, but: string): LedgerRow | undefined {
    return this.#rows('effect', but).findLast((row) => row.key === key);
  }

  /** Returns the keys of a limit. */
  keysOf(name: string): string[] {
    return this.#rows('limit', '').flatMap((row) => (row.name === name ? [row.key] : []));
  }

  #rows(kind: LedgerRow['kind'], but: string): LedgerRow[] {
    return [...this.#pending]
      .filter(([callId]) => callId !== but)
      .flatMap(([, { rows }]) => rows.filter((row) => row.kind === kind));
  }
}
