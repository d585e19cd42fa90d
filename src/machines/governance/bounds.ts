import type { FirstEffect, LedgerEntry, LimitPeriod, MeasuredLimit } from '../domain/ledger.ts';
import type { Caller, ToolCall } from '../domain/task.ts';
import type { DeferRule } from './defer-policy.ts';

/** A limit that applies to a call (docs/contract/governance.md). */
export interface CallLimit {
  /** Its name in the configuration. */
  name: string;
  /** The values that it counts apart, as JSON; `valuesOfKey` reads them. */
  key: string;
  by: Readonly<Record<string, string>>;
  period: LimitPeriod;
  max: string;
  /** What the call adds, as an exact decimal; `null` if it cannot be measured. */
  amount: string | null;
  /** How a call over the limit is held; `null` if it is denied. */
  over: DeferRule | null;
  /** True for a limit that decides nothing, and is only reported. */
  isShadow?: true;
}

/** The effect of a call (docs/contract/governance.md). */
export interface CallEffect {
  /** The entry of the configuration: a tool or a pattern. */
  name: string;
  /** The effect; calls with the same key have the same effect. */
  key: string;
  repeat: 'ask' | 'deny' | 'join';
  /** Milliseconds after which the same effect is a new one; `null` as long as the calls are stored. */
  within: number | null;
  /** How a repeat is held. */
  over: DeferRule;
  /** The tool that finds out whether a call with an unknown outcome ran; absent for none. */
  reconcile?: string;
  /** True for an effect that decides nothing, and is only reported. */
  isShadow?: true;
}

/** The limits and the effect of one call. */
export interface Bounds {
  limits: readonly CallLimit[];
  effect: CallEffect | null;
}

/** What an approver saw of a call before the release. */
export interface SeenBounds {
  /** The limits that the call was over, in the form of `seenLimit`. */
  limits: readonly string[];
  /** The earlier call with the same effect; `null` for none. */
  first: string | null;
}

/** The input of the ledger. */
export interface MeasureInput {
  taskId: string;
  call: ToolCall;
  requester: Pick<Caller, 'provider' | 'userId' | 'email' | 'orgId'> | null;
  bounds: Bounds;
  /** True if the call runs next unless it is over a limit or a repeat; then the ledger reserves in the same step. */
  reserves: boolean;
  /** Present for a call that counts since its approval, and that its program receives now: it counts from now on. */
  renews?: true;
  /** True if the caller can receive the result of an earlier call with the same effect. */
  joins: boolean;
  /** What the approvers of the call saw; `null` if nobody was asked. */
  seen: SeenBounds | null;
  /** The approver who released it; absent for none. */
  approver?: string;
  /** The grant of which the call has spent a use; absent for none. It is given back if the call does not run. */
  grantId?: string;
}

/** What the ledger has for a call. */
export interface Measured {
  limits: readonly MeasuredLimit[];
  /** The earlier call with the same effect; `null` if there is none. */
  first: FirstEffect | null;
  /** What is reserved for the call; `null` if nothing was, because it may not run yet. */
  reserved: readonly LedgerEntry[] | null;
}
