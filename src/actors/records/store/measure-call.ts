import type {
  FirstEffect,
  LedgerEntry,
  LimitStanding,
  MeasuredLimit,
} from '../../../machines/domain/ledger.ts';
import { decimalText, isMore, plus } from '../../../machines/exact-decimal.ts';
import { seenLimit } from '../../../machines/governance/bounded.ts';
import type {
  CallEffect,
  CallLimit,
  Measured,
  MeasureInput,
  SeenBounds,
} from '../../../machines/governance/bounds.ts';

/** The sums of a limit in its current period, without the measured call. */
export interface LimitTotals {
  /** Exact decimals. */
  used: string;
  reserved: string;
  /** A call that starts now counts until this moment, in epoch milliseconds. */
  until: number;
  /** True if calls of the period may be missing, since the store was restored from a backup in it. */
  isIncomplete: boolean;
}

/** What the ledger has for a call before it decides. */
export interface LedgerGround {
  /** In the order of the limits of the call. */
  totals: readonly LimitTotals[];
  /** The newest other call with the same effect; `null` for none. */
  first: FirstEffect | null;
  /** Epoch milliseconds. */
  now: number;
}

/**
 * Compares a call with its limits and earlier effects, and returns what is to be reserved for it. A call over a limit, or a
 * repeat, may run only if its approvers saw exactly that limit, or that earlier call.
 */
export function measureCall(asked: MeasureInput, { totals, first, now }: LedgerGround): Measured {
  const { bounds, reserves, seen } = asked;
  const known = bounds.limits.map((limit, index) => ({
    limit,
    // Safe to cast: there are sums for each limit.
    totals: totals[index] as LimitTotals,
  }));
  const limits = known.map((one) => measuredLimit(one.limit, one.totals));
  const { effect } = bounds;
  const mayRun =
    bounds.limits.every((limit, index) => isWithin(limit, limits[index], seen)) &&
    (effect === null || isFirst(effect, first, seen));
  if (!reserves || !mayRun) return { limits, first, reserved: null };
  const counted = known.map(({ limit, totals: { until } }): LedgerEntry => {
    const { name, key, amount } = limit;
    // A call that cannot be measured runs only if a person saw that.
    return { kind: 'limit', name, key, amount: isAmount(amount) ? amount : '0', until };
  });
  const effects = effect === null ? [] : [effectEntry(effect, now)];
  return { limits, first, reserved: [...counted, ...effects] };
}

/** Compares a call with limits of which the given amounts are used, by name, and with no earlier call. */
export function measureGiven(
  asked: MeasureInput,
  used: Readonly<Record<string, string>>,
  now: number,
): Measured {
  const totals = asked.bounds.limits.map(({ name }) => ({
    used: (Object.hasOwn(used, name) ? used[name] : undefined) ?? '0',
    ...{ reserved: '0', until: now, isIncomplete: false },
  }));
  return measureCall(asked, { totals, first: null, now });
}

function measuredLimit(
  { name, key, by, period, max, amount }: CallLimit,
  { used, reserved, isIncomplete }: LimitTotals,
): MeasuredLimit {
  const standing: LimitStanding = { name, by, period, max, used, reserved };
  if (!isAmount(amount)) return { ...standing, key, amount: null, isOver: true };
  const sum = plus(plus(used, reserved), amount);
  return { ...standing, key, amount, isOver: isIncomplete || isMore(sum, max) };
}

function isAmount(text: string | null): text is string {
  return text !== null && decimalText.test(text);
}

function isWithin(
  limit: CallLimit,
  measured: MeasuredLimit | undefined,
  seen: SeenBounds | null,
): boolean {
  if (measured?.isOver === false || limit.isShadow === true) return true;
  return limit.over !== null && seen?.limits.includes(seenLimit(limit)) === true;
}

function isFirst(
  { repeat, isShadow }: CallEffect,
  first: FirstEffect | null,
  seen: SeenBounds | null,
): boolean {
  if (first === null || isShadow === true) return true;
  return repeat !== 'deny' && seen?.first === first.callId;
}

function effectEntry({ name, key, within, repeat }: CallEffect, now: number): LedgerEntry {
  const until = within === null ? null : now + within;
  return { kind: 'effect', name, key, until, ...(repeat === 'join' ? { joins: true } : {}) };
}
