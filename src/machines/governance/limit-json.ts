import { decimalJson } from '../decimal-words.ts';
import type {
  FirstEffect,
  LedgerEntry,
  LimitPeriod,
  LimitStanding,
  MeasuredLimit,
  OpenOutcome,
} from '../domain/ledger.ts';
import { formatDuration } from '../duration.ts';
import { leftOf } from './limit-standing.ts';

/** An exact amount: a number, or text if no number has exactly its value. */
export type Amount = number | string;

/** A limit as clients read it. */
export type LimitJson = {
  name: string;
  by: Record<string, string>;
  period: LimitPeriodJson;
  max: Amount;
  used: Amount;
  reserved: Amount;
  left: Amount;
};

/** A limit that applies to a call, as clients read it. */
export type MeasuredLimitJson = LimitJson & {
  amount: Amount | null;
  over: boolean;
};

/** A period: a rolling one such as `24h0m0s`, or one of the calendar. */
export type LimitPeriodJson = {
  rolling?: string;
  calendar?: 'day' | 'week' | 'month';
  zone?: string;
};

/** The earlier call with the same effect, as clients read it: without its task and its people for those who may not read that task. */
export type FirstEffectJson = {
  call_id: string;
  task_id?: string;
  key: string;
  requested_by?: RequesterJson | null;
  at: string;
  released_by?: string | null;
  outcome: FirstEffect['outcome'];
};

/** Returns whether a reader may know who requested an earlier call; `null` is a call without authentication. */
export type Sees = (requester: FirstEffect['requester']) => boolean;

type RequesterJson = {
  user_id: string;
  email: string | null;
  provider: string;
};

/** Formats a limit. */
export function limitJson({ name, by, period, max, used, reserved }: LimitStanding): LimitJson {
  return {
    name,
    by: { ...by },
    period: periodJson(period),
    max: decimalJson(max),
    used: decimalJson(used),
    reserved: decimalJson(reserved),
    left: decimalJson(leftOf({ max, used, reserved })),
  };
}

/** Formats a limit that applies to a call. */
export function measuredLimitJson(limit: MeasuredLimit): MeasuredLimitJson {
  const { amount, isOver } = limit;
  return {
    ...limitJson(limit),
    amount: amount === null ? null : decimalJson(amount),
    over: isOver,
  };
}

const everyone: Sees = () => true;

/** Formats the earlier call with the same effect. */
export function firstEffectJson(first: FirstEffect, sees: Sees = everyone): FirstEffectJson {
  const { callId, taskId, key, requester, at, approver = null, outcome } = first;
  const people = { requested_by: requesterJson(requester), released_by: approver };
  return {
    call_id: callId,
    ...(sees(requester) ? { task_id: taskId, ...people } : {}),
    ...{ key, at: new Date(at).toISOString(), outcome },
  };
}

/** Formats the limits and the earlier call of a held call, for a reader who `sees` that call; empty without any. */
export function boundsJson(
  { limits, first }: { limits?: readonly MeasuredLimit[]; first?: FirstEffect },
  sees: Sees = everyone,
): { limits?: MeasuredLimitJson[]; first?: FirstEffectJson } {
  return {
    ...(limits === undefined ? {} : { limits: limits.map(measuredLimitJson) }),
    ...(first === undefined ? {} : { first: firstEffectJson(first, sees) }),
  };
}

/** Formats what entries of the ledger add to limits. */
export function limitsOf(entries: readonly LedgerEntry[]): { name: string; amount: Amount }[] {
  return entries.flatMap((entry) =>
    entry.kind === 'limit' ? [{ name: entry.name, amount: decimalJson(entry.amount) }] : [],
  );
}

/** Returns the effects among entries of the ledger. */
export function effectsOf(entries: readonly LedgerEntry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'effect' ? [entry.key] : []));
}

/** Returns the fields of the event of a statement on a call. */
export function settledFields(
  { callId, tool, argsSha256, entries }: OpenOutcome,
  { ran, by, reason }: NonNullable<OpenOutcome['settled']>,
) {
  return {
    ...{ call_id: callId, tool, args_sha256: argsSha256, ran, by, reason },
    limits: limitsOf(entries),
    effects: effectsOf(entries),
  };
}

/** Formats the requester of a call in the ledger; `null` without authentication. */
export function requesterJson(requester: OpenOutcome['requester']): RequesterJson | null {
  if (requester === null) return null;
  const { userId, email = null, provider } = requester;
  return { user_id: userId, email, provider };
}

function periodJson(period: LimitPeriod): LimitPeriodJson {
  return 'rolling' in period ? { rolling: formatDuration(period.rolling) } : { ...period };
}
