import type { DatabaseSync } from 'node:sqlite';
import { minus, plus, times } from '../../../machines/exact-decimal.ts';
import type { LedgerRow } from '../store/ledger-rows.ts';

/** The sums of a key of a limit over the calls that started after a moment. */
interface Counter {
  after: number;
  used: string;
  reserved: string;
}

/** The part of an entry that a counter sums up. */
type Counted = Pick<LedgerRow, 'name' | 'key' | 'at' | 'amount' | 'state'>;

/** Entries with the same amount and state. */
type Equal = Pick<LedgerRow, 'amount' | 'state'> & { calls: number };

/** Maximum of counters that are remembered; others are read again. */
const mostCounters = 10_000;

/**
 * Sums of limits. The first sum of a key reads all calls of its period; from then on only those that leave the period
 * are read, and the changes of this process, the only one that writes, keep the sums.
 */
export class LimitCounters {
  readonly #between;
  /** The least recently used first. */
  readonly #counters = new Map<string, Counter>();

  constructor(database: DatabaseSync) {
    this.#between = database.prepare(`SELECT amount, state, count(*) AS calls FROM ledger
      WHERE kind = 'limit' AND name = ? AND key = ? AND at > ? AND at <= ?
      GROUP BY amount, state`);
  }

  /** Returns the sums of a key over the calls that started after a moment. */
  totals(name: string, key: string, after: number): Readonly<Counter> {
    const id = idOf(name, key);
    const counter = this.#counters.get(id) ?? this.#begun(name, key, after);
    this.#counters.delete(id);
    this.#counters.set(id, counter);
    if (this.#counters.size > mostCounters) {
      const [oldest = ''] = this.#counters.keys();
      this.#counters.delete(oldest);
    }
    if (counter.after < after) this.#move(name, key, { counter, to: after, sign: -1 });
    else if (counter.after > after) this.#move(name, key, { counter, to: after, sign: 1 });
    return counter;
  }

  /** Adds an entry to the sums that include it. */
  add(entry: Counted): void {
    this.#change(entry, 1);
  }

  /** Removes an entry from the sums that include it. */
  remove(entry: Counted): void {
    this.#change(entry, -1);
  }

  /** Forgets all sums, such as after changes that were not committed. */
  clear(): void {
    this.#counters.clear();
  }

  #begun(name: string, key: string, after: number): Counter {
    const counter = { after, used: '0', reserved: '0' };
    for (const row of this.#between.iterate(name, key, after, Number.MAX_SAFE_INTEGER)) {
      count(counter, row as unknown as Equal, 1);
    }
    return counter;
  }

  /** Reads the entries between two moments, which enter or leave the period. */
  #move(
    name: string,
    key: string,
    { counter, to, sign }: { counter: Counter; to: number; sign: 1 | -1 },
  ): void {
    const [from, until] = sign === 1 ? [to, counter.after] : [counter.after, to];
    for (const row of this.#between.iterate(name, key, from, until)) {
      count(counter, row as unknown as Equal, sign);
    }
    counter.after = to;
  }

  #change(entry: Counted, sign: 1 | -1): void {
    const counter = this.#counters.get(idOf(entry.name, entry.key));
    if (counter !== undefined && entry.at > counter.after)
      count(counter, { ...entry, calls: 1 }, sign);
  }
}

function idOf(name: string, key: string): string {
  return JSON.stringify([name, key]);
}

function count(counter: Counter, { amount, state, calls }: Equal, sign: 1 | -1): void {
  if (state === 'returned') return;
  const sum = state === 'running' ? 'reserved' : 'used';
  const change = times(amount, calls);
  counter[sum] = sign === 1 ? plus(counter[sum], change) : minus(counter[sum], change);
}
