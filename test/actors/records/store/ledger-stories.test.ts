import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumUp } from '../../../../src/actors/records/postgres/ledger-sums.ts';
import { countedTime } from '../../../../src/actors/records/store/limit-period.ts';
import {
  type TaskStore,
  UnreservedError,
} from '../../../../src/actors/records/store/task-store.ts';
import type {
  LedgerEnd,
  LedgerEntry,
  LimitPeriod,
} from '../../../../src/machines/domain/ledger.ts';
import { seenLimit } from '../../../../src/machines/governance/bounded.ts';
import type { CallEffect, CallLimit } from '../../../../src/machines/governance/bounds.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { aLimit, aMeasure, anEffect, end, start } from '../../../helpers/measured-calls.ts';
import { runs } from '../../../helpers/runs.ts';

const hour = 3_600_000;

const Exact = Decimal.clone({ precision: 100 });

/** A call that is reserved, runs or ran, as the naive model keeps it. */
interface Entry {
  id: string;
  kind: 'limit' | 'effect';
  key: string;
  amount: string;
  at: number;
  state: 'pending' | 'running' | 'succeeded' | 'failed' | 'unknown' | 'returned';
}

const periods: readonly LimitPeriod[] = [
  { rolling: hour },
  { rolling: 30 * hour },
  { calendar: 'day', zone: 'Europe/Berlin' },
];

type Step =
  | { type: 'measure'; call: number; seen: boolean; reserves: boolean }
  | { type: 'start' | 'forget'; call: number }
  | { type: 'end'; call: number; end: LedgerEnd }
  | { type: 'settle'; call: number; ran: boolean }
  | { type: 'clock'; by: number }
  | { type: 'policy'; max: string; period: LimitPeriod; within: number | null }
  | { type: 'kill' }
  | { type: 'sum'; key: number; rows: number };

const calls = 6;
const call = fc.nat(calls - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...{ type: fc.constant('measure' as const), call },
      ...{ seen: fc.boolean(), reserves: fc.boolean() },
    }),
  },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('start' as const), call }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('forget' as const), call }) },
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ type: fc.constant('end' as const), call },
      end: fc.constantFrom<LedgerEnd>('succeeded', 'failed', 'not_run', 'unknown'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('settle' as const), call, ran: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('clock' as const),
      by: fc.constantFrom(-30 * hour, -1_000, 1_000, 44_999, 45_000, hour, 25 * hour),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('policy' as const),
      max: fc.constantFrom('0.3', '1', '2.5'),
      period: fc.constantFrom(...periods),
      within: fc.constantFrom(null, hour),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('kill' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ type: fc.constant('sum' as const), key: fc.nat(1) },
      rows: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

/** The calls with their amounts: two keys of a limit, and three effects. */
const amounts = ['0.1', '0.2', '1', '0.30000000000000000001', '2', '0'];

class Story {
  readonly #place: StorePlace;
  readonly #isShared: boolean;
  #store: TaskStore;
  #now = Date.parse('2026-03-28T20:00:00Z');
  #limit: Pick<CallLimit, 'max' | 'period'> = { max: '1', period: { rolling: hour } };
  #within: number | null = null;
  #entries: Entry[] = [];
  /** What the last measure of a call reserved, until it starts. */
  readonly #reserved = new Map<string, readonly LedgerEntry[]>();
  readonly #revisions = new Map<string, number>();
  readonly #outcomes = new Map<string, 'unknown' | 'settled'>();
  /** Each step of a call takes a new id once the one before has ended. */
  readonly #ids: number[] = Array.from({ length: calls }, () => 0);

  constructor(place: StorePlace, store: TaskStore, isShared: boolean) {
    this.#place = place;
    this.#store = store;
    this.#isShared = isShared;
  }

  async take(step: Step): Promise<void> {
    switch (step.type) {
      case 'measure':
        await this.#measure(step.call, step.seen, step.reserves);
        break;
      case 'start':
        await this.#start(this.#idOf(step.call));
        break;
      case 'forget':
        await this.#forget(this.#idOf(step.call));
        break;
      case 'end':
        await this.#end(this.#idOf(step.call), step.end);
        break;
      case 'settle':
        await this.#settle(this.#idOf(step.call), step.ran);
        break;
      case 'clock':
        await this.#passTime(step.by);
        break;
      case 'policy':
        this.#limit = { max: step.max, period: step.period };
        this.#within = step.within;
        break;
      case 'kill':
        await this.#kill();
        break;
      case 'sum':
        await this.#sum(step.key, step.rows);
    }
    await this.#compare();
  }

  #idOf(index: number): string {
    return `c-${index}-${this.#ids[index] ?? 0}`;
  }

  async #measure(index: number, seen: boolean, reserves: boolean): Promise<void> {
    const id = this.#idOf(index);
    const own = this.#entries.filter((entry) => entry.id === id);
    const isOver = this.#revisions.has(id) && !own.some(({ state }) => state === 'running');
    if (isOver) this.#ids[index] = (this.#ids[index] ?? 0) + 1;
    if (isOver) return this.#measure(index, seen, reserves);
    const key = `{"caller":"${index % 2}"}`;
    const amount = amounts[index] ?? '0';
    const limit: CallLimit = aLimit({
      ...this.#limit,
      key,
      by: { caller: String(index % 2) },
      amount,
    });
    const effect: CallEffect = anEffect({ key: `e-${index % 3}`, within: this.#within });
    const expected = this.#expected(id, limit, effect);
    const first = seen ? expected.first : null;
    const seenBounds = { limits: seen ? [seenLimit(limit)] : [], first };
    const asked = aMeasure(id, { limits: [limit], effect }, { seen: seenBounds, reserves });
    const measured = await this.#store.ledger.measure(asked, this.#now);
    const mayRun = seen || (!expected.isOver && expected.first === null);
    const [found] = measured.limits;
    expect({
      ...{ used: found?.used, reserved: found?.reserved, isOver: found?.isOver },
      ...{ first: measured.first?.callId ?? null, mayRun: measured.reserved !== null },
    }).toEqual({ ...expected, mayRun: reserves && mayRun });
    if (!reserves) return;
    this.#entries = this.#entries.filter((one) => one.id !== id || one.state !== 'pending');
    this.#reserved.delete(id);
    if (measured.reserved === null) return;
    this.#reserved.set(id, measured.reserved);
    if (own.some(({ state }) => state === 'running')) return;
    this.#entries.push(
      { id, kind: 'limit', key, amount, at: this.#now, state: 'pending' },
      { id, kind: 'effect', key: effect.key, amount: '', at: this.#now, state: 'pending' },
    );
  }

  /** What the ledger must have for a call, added up from all entries. */
  #expected(id: string, { key, amount, max }: CallLimit, effect: CallEffect) {
    const { used, reserved } = this.#sums(key, id);
    const isOver = used
      .plus(reserved)
      .plus(amount ?? '0')
      .gt(max);
    const after = effect.within === null ? Number.NEGATIVE_INFINITY : this.#now - effect.within;
    const equal = this.#entries.filter(
      (one) => one.kind === 'effect' && one.key === effect.key && one.id !== id,
    );
    const isRunning = (state: Entry['state']) => state === 'pending' || state === 'running';
    const effective = equal.filter(
      ({ state, at }) =>
        isRunning(state) || (at > after && state !== 'failed' && state !== 'returned'),
    );
    const pending = effective.filter(({ state }) => state === 'pending');
    // A pending call of this process is the newest, even if the clock was set back.
    const of = this.#isShared || pending.length === 0 ? effective : pending;
    const newest = Math.max(...of.map(({ at }) => at));
    const first = of.findLast(({ at }) => at === newest || of === pending)?.id ?? null;
    return { used: used.toFixed(), reserved: reserved.toFixed(), isOver, first };
  }

  #sums(key: string, but: string) {
    const { after } = countedTime(this.#limit.period, this.#now);
    const counted = this.#entries.filter(
      (one) => one.kind === 'limit' && one.key === key && one.id !== but && one.at > after,
    );
    const sum = (states: readonly string[]) =>
      counted
        .filter(({ state }) => states.includes(state))
        .reduce((total, { amount }) => total.plus(amount), new Exact(0));
    return {
      used: sum(['succeeded', 'failed', 'unknown']),
      reserved: sum(['pending', 'running']),
    };
  }

  async #start(id: string): Promise<void> {
    const entries = this.#reserved.get(id);
    if (entries === undefined || this.#revisions.has(id)) return;
    const isHeld = this.#entries.some((entry) => entry.id === id);
    const saving = start(this.#store, id, entries);
    if (!isHeld) {
      await expect(saving).rejects.toBeInstanceOf(UnreservedError);
      this.#reserved.delete(id);
      return;
    }
    await saving;
    this.#revisions.set(id, 1);
    this.#reserved.delete(id);
    for (const entry of this.#entries) {
      if (entry.id === id && entry.state === 'pending') entry.state = 'running';
    }
  }

  async #forget(id: string): Promise<void> {
    if (this.#revisions.has(id)) return;
    this.#store.ledger.forget(id);
    this.#entries = this.#entries.filter((one) => one.id !== id || one.state !== 'pending');
    // What is forgotten comes before the next measure; this one changes nothing.
    await this.#store.ledger.measure(aMeasure('none', {}), this.#now);
  }

  async #end(id: string, ended: LedgerEnd): Promise<void> {
    const revision = this.#revisions.get(id);
    if (revision === undefined) return;
    await end(this.#store, id, ended, { revision: revision + 1 });
    this.#revisions.set(id, revision + 1);
    const isSettled = this.#outcomes.get(id) === 'settled';
    const isOpen = (state: Entry['state']) => state === 'running' || state === 'unknown';
    this.#entries = this.#entries.flatMap((entry) => {
      if (entry.id !== id) return [entry];
      if (isSettled ? ended !== 'succeeded' : !isOpen(entry.state)) return [entry];
      return ended === 'not_run' ? [] : [{ ...entry, state: ended }];
    });
    if (isSettled) return;
    if (ended === 'unknown') this.#outcomes.set(id, 'unknown');
    else this.#outcomes.delete(id);
  }

  async #settle(id: string, ran: boolean): Promise<void> {
    const own = this.#entries.filter((entry) => entry.id === id);
    const known = this.#outcomes.get(id);
    const isOpen = known === 'unknown' || own.some(({ state }) => state === 'failed');
    const settled = { ran, by: 'ann', reason: 'r', at: 1 };
    const event = { ts: '2026-07-01T09:00:00.000Z' };
    const result = await this.#store.ledger.settle(id, settled, event);
    const answer = known === 'settled' ? known : isOpen ? id : 'unknown';
    expect(typeof result === 'string' ? result : result.callId).toBe(answer);
    if (typeof result === 'string') return;
    this.#outcomes.set(id, 'settled');
    for (const entry of own) entry.state = ran ? 'succeeded' : 'returned';
  }

  async #passTime(by: number): Promise<void> {
    this.#now += by;
    if (this.#isShared) {
      // What is pending ends by the clock of the server.
      if (by < 45_000) return;
      await this.#place.execute(`UPDATE ledger SET ends_at = 0 WHERE state = 'pending'`);
      this.#entries = this.#entries.filter(({ state }) => state !== 'pending');
      // Another call finds them at their end.
      await this.#store.ledger.measure(aMeasure('none', {}), this.#now);
    } else {
      this.#entries = this.#entries.filter(
        ({ state, at }) => state !== 'pending' || Math.abs(this.#now - at) < 45_000,
      );
      await this.#store.ledger.measure(aMeasure('none', {}), this.#now);
    }
  }

  async #kill(): Promise<void> {
    await this.#store.close();
    this.#store = await this.#place.open();
    if (!this.#isShared) this.#entries = this.#entries.filter(({ state }) => state !== 'pending');
  }

  /** PostgreSQL stores the sum of ended calls of a key, here of few. */
  async #sum(key: number, rows: number): Promise<void> {
    if (!this.#isShared) return;
    const values = ["'refunds'", `'{"caller":"${key}"}'`, String(rows)];
    const sql = sumUp.replaceAll(/\$(\d)/g, (_, n: string) => values[Number(n) - 1] ?? '');
    await this.#place.execute(sql);
  }

  async #compare(): Promise<void> {
    const limits = [{ name: 'refunds', ...this.#limit }];
    const { after } = countedTime(this.#limit.period, this.#now);
    const keys = ['{"caller":"0"}', '{"caller":"1"}'].filter((key) =>
      this.#entries.some((one) => one.kind === 'limit' && one.key === key && one.at > after),
    );
    const found = await this.#store.ledger.standings(limits, this.#now);
    const shown = found.map(({ by, used, reserved }) =>
      [JSON.stringify(by), used, reserved].join(),
    );
    const expected = keys.map((key) => {
      const { used, reserved } = this.#sums(key, '');
      return [key, used.toFixed(), reserved.toFixed()].join();
    });
    expect(shown.toSorted()).toEqual(expected.toSorted());
    const { outcomes } = await this.#store.ledger.outcomes({ limit: 1_000 });
    expect(
      outcomes
        .map(({ callId, settled }) => `${callId} ${settled === undefined ? 'unknown' : 'settled'}`)
        .toSorted(),
    ).toEqual([...this.#outcomes].map((one) => one.join(' ')).toSorted());
  }
}

describe.each(kindsOfStores)('stories of calls and limits in $kind', ({ kind, make }) => {
  it('count as in a model that adds up all calls', async () => {
    const isShared = kind === 'PostgreSQL';
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const place = await make();
        const story = new Story(place, await place.open(), isShared);
        for (const one of steps) await story.take(one);
      }),
      { numRuns: runs(isShared ? 50 : 200) },
    );
  });
});
