import type { LimitPeriod, LimitStanding, OpenOutcome } from '../../machines/domain/ledger.ts';
import type { Deferral, ToolCall } from '../../machines/domain/task.ts';
import type { Measured, MeasureInput } from '../../machines/governance/bounds.ts';
import type { AuditEvent } from './audit-event.ts';

/** An earlier call with the same tool and arguments. */
export type EqualCall = NonNullable<Deferral['repeats']>;

/** A limit of the configuration, as far as its standing depends on it. */
export interface KnownLimit {
  name: string;
  period: LimitPeriod;
  max: string;
}

/** A limit with what the calls of one key use of it. */
export interface KeyStanding extends LimitStanding {
  /** The values of `by` as JSON; the caller as provider and user id. Empty for a limit that no call uses. */
  key: string;
}

/** The statement of a person on a call whose outcome nobody knows. */
export type Settlement = NonNullable<OpenOutcome['settled']>;

/** The event of a statement without what the ledger has of the call: its envelope, and how the person is known. */
export type StatementEvent = Omit<AuditEvent, 'event' | 'task_id'>;

/** Which calls without a known outcome to list. */
export interface OutcomeQuery {
  limit: number;
  /** Comes from the previous page. */
  cursor?: string;
  /** True lists only calls that nobody settled, false only settled ones. */
  isOpen?: boolean;
}

/** A page of calls without a known outcome; `cursor` requests the next one. */
export interface OutcomePage {
  outcomes: OpenOutcome[];
  cursor: string | null;
}

/** A time after which a reservation no longer counts if its call has not started, in milliseconds. */
export const pendingTime = 45_000;

/**
 * The calls that count for limits, the effects of calls, and the calls whose outcome nobody knows.
 *
 * A reservation of `measure` is pending until the commit that lets the call run. That commit is refused with
 * UnreservedError if the reservation ended meanwhile: then the call is ruled on again.
 */
export interface Ledger {
  /** Compares a call with its limits and earlier effects, and reserves in the same step if it may run. */
  measure(asked: MeasureInput, now: number): Promise<Measured>;
  /**
   * Looks through the next 10,000 rows for calls that run neither in a task nor at a program: a release without a ledger ended
   * them. Their outcome becomes unknown, so that people can settle them. Returns false after the last row.
   */
  recover(now: number): Promise<boolean>;
  /** Deletes up to 1,000 entries that no longer count; returns how many. */
  prune(now: number): Promise<number>;
  /** Returns the newest other call of any session with the same tool and arguments that may have run; `null` for none. */
  equal(call: Pick<ToolCall, 'id' | 'tool' | 'argsSha256'>): Promise<EqualCall | null>;
  /** Gives back what was reserved for a call that did not start. */
  forget(callId: string): void;
  /** Returns the standing of each key of these limits with a call in the current period, at most `mostStandings`. */
  standings(limits: readonly KnownLimit[], now: number): Promise<KeyStanding[]>;
  /** Lists the calls whose outcome nobody knows, and those that people settled, newest first. */
  outcomes(query: OutcomeQuery): Promise<OutcomePage>;
  /** Returns a call whose outcome nobody knows, that failed, or that a person settled. */
  outcome(callId: string): Promise<OpenOutcome | undefined>;
  /**
   * Stores the statement of a person on a call whose outcome nobody knows, or that failed, with its event in one commit.
   * Returns `unknown` if there is no such call, and `settled` if it was settled before.
   */
  settle(
    callId: string,
    settled: Settlement,
    event: StatementEvent,
  ): Promise<OpenOutcome | 'unknown' | 'settled'>;
}

/** Maximum standings of one limit; those with the newest calls. */
export const mostStandings = 1_000;
