/** Arguments of a call, as JSON. */
export type Arguments = Record<string, unknown>;

/** The people of the checks: rita asks, ann and ben may decide, eve may neither decide nor see the calls of rita. */
export type Person = 'rita' | 'ann' | 'ben' | 'eve';

/**
 * A call to hold. The checks name only the tool `pay`, apart from another tool `refund` and one that no rule names, `unlisted`; and
 * `spend`, `spend_more` and `send` for limits and effects.
 */
export interface AskedCall {
  key: string;
  tool: string;
  args: Arguments;
  by: Person;
  /** Asks for the short deadline, `expiresWithin` of the adapter. */
  soon?: true;
}

/** Status of a hold. An implementation without one of them never returns it. */
export type HoldStatus =
  | 'pending'
  | 'allowed'
  | 'denied'
  | 'approved'
  | 'rejected'
  | 'expired'
  | 'cancelled';

/** A hold as its caller sees it. */
export interface Hold {
  id: string;
  status: HoldStatus;
  /** The person who decided, with the feature `approver`. */
  approver?: string | null | undefined;
  /** The note of that person, with the feature `note`. */
  note?: string | null | undefined;
  /** Identifies the arguments that an approver saw, with the feature `digest`. */
  digest?: string | undefined;
  /** The reported outcome, with `report`. */
  outcome?: HoldOutcome | null | undefined;
}

/** A call that waits, as an approver sees it. */
export interface WaitingCall {
  id: string;
  tool: string;
  args: Arguments;
}

/** The implementation refused a request; `refused` is its reason. */
export interface Refusal {
  refused: string;
}

/** A decision of a person. */
export interface HoldDecision {
  decision: 'approve' | 'reject';
  by: Person;
  note?: string;
  /** The arguments to run instead, with the feature `edit`. */
  args?: Arguments;
  /** The digest of the arguments that the person saw, with the feature `digest`. */
  digest?: string;
}

/** The end of a call as its program reports it. */
export interface HoldOutcome {
  /** `not_run` only with the feature `notRun`. */
  status: 'succeeded' | 'failed' | 'not_run';
  error?: string;
}

/** A property of an implementation that no method of its adapter shows. */
export type Feature =
  /** It distinguishes callers: a hold belongs to the person who asked. */
  | 'callers'
  /** It has a list of approvers: ann and ben, and rita for the feature `fourEyes`. */
  | 'approvers'
  /** It excludes the requester from the decision. */
  | 'fourEyes'
  /** A hold names the person who decided. */
  | 'approver'
  /** A hold has the note of that person. */
  | 'note'
  /** An approver may change the arguments. */
  | 'edit'
  /** A decision may name the arguments that its person saw. */
  | 'digest'
  /** A process that names itself at `take` receives its call again, so that a lost answer does no harm. */
  | 'claim'
  /** It checks the form of a call. */
  | 'schema'
  /** A rule decides which tools may be held, and `unlisted` is in none. */
  | 'tools'
  /** A program may report that a call did not run. */
  | 'notRun'
  /** `spend` is allowed while its `amount`, a number, adds up to at most 100 for each `account` of a day, and denied beyond. */
  | 'limit'
  /** `spend_more` is such a tool, whose calls beyond the limit wait for a person. */
  | 'limitAsks'
  /** `send` is allowed, and a call with the `order` of another that runs or has succeeded waits for a person. */
  | 'effect';

/**
 * An implementation of holds, as the checks use it. Only `name`, `ask` and `read` are required; the checks that need more are reported
 * as not offered. A method returns `{refused}` for a refusal and throws for everything else that fails.
 */
export interface HoldsAdapter {
  /** Name and version of the implementation, for the report. */
  name: string;
  features?: readonly Feature[];
  /** Milliseconds after which a call that was asked for with `soon` expires. */
  expiresWithin?: number;
  /** Starts it: first with an empty store, after `stop` and `kill` with the store of before. */
  start?(): Promise<void>;
  /** Stops it as an operator does. */
  stop?(): Promise<void>;
  /** Ends it as a power cut does, with SIGKILL. */
  kill?(): Promise<void>;
  /** Ends it and removes its store. */
  close?(): Promise<void>;
  /** Asks for a call and returns its hold without a wait for the decision. */
  ask(call: AskedCall): Promise<Hold | Refusal>;
  /** Returns a hold. A read may count as the one that `take` makes. */
  read(id: string, by: Person): Promise<Hold | Refusal>;
  /** Returns the calls that wait for a decision, as ann sees them. */
  waiting?(): Promise<WaitingCall[]>;
  decide?(id: string, decision: HoldDecision): Promise<Refusal | undefined>;
  cancel?(id: string, by: Person): Promise<Refusal | undefined>;
  /**
   * Takes a call in order to run it. Returns the arguments to the first caller once the call may run, otherwise a refusal. `claim`
   * names the process, with the feature of that name. For implementations whose programs run the calls; `runs` is for those that run
   * them.
   */
  take?(id: string, by: Person, claim?: string): Promise<Arguments | Refusal>;
  /** Returns the arguments of each run of a call so far, in order; the runs outlive `kill`. */
  runs?(id: string): Promise<Arguments[]>;
  /** Reports the outcome of a call that was taken. */
  report?(id: string, outcome: HoldOutcome, by: Person): Promise<Refusal | undefined>;
  /** Advances the clock of the implementation; without it the checks wait in real time. */
  pass?(milliseconds: number): Promise<void>;
}

/** Returns whether a request was refused. */
export function isRefused(answer: object | undefined): answer is Refusal {
  return answer !== undefined && 'refused' in answer;
}
