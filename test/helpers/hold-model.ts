import type { HoldAccount, HoldOutcome, HoldTimes } from '../../src/machines/domain/hold.ts';
import type { JsonObject } from '../../src/machines/json.ts';

/** What a program can still expect of a hold. */
export interface ModelHold {
  key: string;
  /** As asked. */
  asked: string;
  /** As they may run, in JSON. */
  args: string;
  status: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled';
  /** Absent until the call is approved. */
  account?: HoldAccount['state'];
  outcome: HoldOutcome['status'] | null;
  /** When the next step is due, in epoch milliseconds; `null` for never. */
  dueAt: number | null;
  claim: string | null;
}

export type OutcomeKind = 'kept' | 'differs' | 'notGranted' | 'notReceived';

/** Holds of one tool, each call of which waits for one approver who may change its arguments, as the contract has them. */
export class HoldModel {
  readonly holds = new Map<string, ModelHold>();
  readonly #times: HoldTimes & { wait: number };
  #now: number;

  constructor(times: HoldTimes & { wait: number }, now: number) {
    this.#times = times;
    this.#now = now;
  }

  /** Returns whether the key is new, and whether it belongs to this call. */
  ask(key: string, args: JsonObject): { isNew: boolean; isSame: boolean } {
    const asked = JSON.stringify(args);
    const known = this.holds.get(key);
    if (known !== undefined) return { isNew: false, isSame: known.asked === asked };
    const dueAt = this.#now + this.#times.wait;
    const hold: ModelHold = {
      ...{ key, asked, args: asked, outcome: null, dueAt, claim: null },
      status: 'pending',
    };
    this.holds.set(key, hold);
    return { isNew: true, isSame: true };
  }

  /** Returns the kind of the answer to a decision. */
  decide(hold: ModelHold, verb: 'approve' | 'reject', args?: JsonObject): string {
    if (hold.status === 'approved' || hold.status === 'rejected') return 'decided';
    // A hold that expired after its approval was decided as well.
    if (hold.status !== 'pending') return hold.account === undefined ? 'notPending' : 'decided';
    if (verb === 'reject' && args !== undefined) return 'notEditable';
    hold.status = verb === 'approve' ? 'approved' : 'rejected';
    hold.dueAt = null;
    if (verb === 'reject') return 'resolved';
    hold.account = 'granted';
    hold.dueAt = this.#now + this.#times.releaseWithin;
    if (args !== undefined) hold.args = JSON.stringify(args);
    return 'resolved';
  }

  /** Returns whether this process is the one that receives the call now. */
  take(hold: ModelHold, claim: string): boolean {
    if (hold.account !== 'granted') return false;
    hold.account = 'released';
    hold.claim = claim;
    hold.dueAt = this.#now + this.#times.outcomeWithin;
    return true;
  }

  close(hold: ModelHold, status: HoldOutcome['status']): OutcomeKind {
    const { account } = hold;
    if (account === undefined || account === 'withdrawn') return 'notGranted';
    if (account === 'closed') return hold.outcome === status ? 'kept' : 'differs';
    if (account === 'granted' && status !== 'not_run') return 'notReceived';
    hold.account = 'closed';
    hold.outcome = status;
    hold.dueAt = null;
    return 'kept';
  }

  cancel(hold: ModelHold): void {
    if (hold.status !== 'pending') return;
    hold.status = 'cancelled';
    hold.dueAt = null;
  }

  passTime(milliseconds: number): void {
    this.#now += milliseconds;
    for (const hold of this.holds.values()) {
      if (hold.dueAt === null || hold.dueAt > this.#now) continue;
      hold.dueAt = null;
      if (hold.status === 'pending') hold.status = 'expired';
      else if (hold.account === 'granted') {
        hold.account = 'withdrawn';
        hold.status = 'expired';
      } else hold.account = 'unaccounted';
    }
  }
}
