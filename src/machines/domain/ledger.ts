/** A period of a limit: rolling, in milliseconds, or a period of the calendar in a time zone. */
export type LimitPeriod =
  | { rolling: number }
  | { calendar: 'day' | 'week' | 'month'; zone: string };

/**
 * What one call adds to the ledger: an amount to a limit, or an effect. Amounts are exact decimals; `until` is in epoch
 * milliseconds, `null` as long as the task of the call is stored.
 */
export type LedgerEntry =
  | { kind: 'limit'; name: string; key: string; amount: string; until: number }
  /** `joins` if the result of the call is stored for later calls with the same effect. */
  | { kind: 'effect'; name: string; key: string; until: number | null; joins?: true };

/** A limit when a call was measured. Amounts are exact decimals. */
export interface LimitStanding {
  /** Its name in the configuration. */
  name: string;
  /** The values that it counts apart, such as `{caller: 'ann@example.com'}`; empty if it counts all calls together. */
  by: Readonly<Record<string, string>>;
  period: LimitPeriod;
  max: string;
  /** The calls of the period that ran, or may have run. */
  used: string;
  /** The calls that are running. */
  reserved: string;
}

/** A limit that applies to a call, with what the call adds. */
export interface MeasuredLimit extends LimitStanding {
  /** The values that it counts apart, as JSON. */
  key: string;
  /** `null` if the call cannot be measured: then it counts as over the limit. */
  amount: string | null;
  isOver: boolean;
}

/** The earlier call with the same effect. */
export interface FirstEffect {
  /** The effect, as its template makes it. */
  key: string;
  callId: string;
  taskId: string;
  argsSha256: string;
  requester: { provider: string; userId: string; email?: string; orgId?: string } | null;
  /** Start or release in epoch milliseconds. */
  at: number;
  /** The person who released it; absent if nobody was asked. */
  approver?: string;
  /** `running` includes a call that its program has not received yet. */
  outcome: 'running' | 'succeeded' | 'unknown';
  /** Its result; set only for effects that join, and only if it is short enough to be stored. */
  result?: string;
}

/** The earlier call that a denied repeat names. */
export type RepeatedCall = Pick<FirstEffect, 'callId' | 'taskId' | 'key' | 'outcome'>;

/** How the call of an entry ended. */
export type LedgerEnd = 'succeeded' | 'failed' | 'not_run' | 'unknown';

/** A change of the ledger that is stored with a change of a task. */
export type LedgerChange =
  /** The call may run: it is known to later equal calls, and what was reserved for it is stored. */
  | {
      type: 'started';
      callId: string;
      tool: string;
      argsSha256: string;
      /** Epoch milliseconds. */
      at: number;
      entries: readonly LedgerEntry[];
      approver?: string;
      /** Present if the call counted before, and counts from now on instead. */
      renews?: true;
    }
  | {
      type: 'ended';
      callId: string;
      tool: string;
      argsSha256: string;
      end: LedgerEnd;
      /** Present if the outcome of the call was unknown before. */
      wasUnknown?: true;
      /** Its result, for later calls that join it. */
      result?: string;
    };

/** A call whose outcome nobody knows, or the statement of a person on it. */
export interface OpenOutcome {
  callId: string;
  taskId: string;
  tool: string;
  argsSha256: string;
  /** End of the knowledge of the daemon, in epoch milliseconds. */
  at: number;
  requester: FirstEffect['requester'];
  /** The limits and effects that it counts for. */
  entries: readonly LedgerEntry[];
  /**
   * The statement of a person; absent while nobody knows. `contradictedAt` is the time at which the call was reported as succeeded
   * although it did not run according to the statement.
   */
  settled?: { ran: boolean; by: string; reason: string; at: number; contradictedAt?: number };
}

/** Returns the entries of limits, without that of the effect. */
export function limitEntries(entries: readonly LedgerEntry[] = []): LedgerEntry[] {
  return entries.filter(({ kind }) => kind === 'limit');
}

/** Returns the name under which a tool settles the outcome of a call. */
export function settledBy(tool: string): string {
  return `tool:${tool}`;
}
