import type { JsonObject } from '../json.ts';

/** The request of a program to hold a call that the program runs itself. */
export interface HoldRequest {
  /** Chosen by the program: a request with the same key and digest is the same hold. */
  key: string;
  tool: string;
  /** Digest of the tool, the arguments and `runsSha256` as requested. */
  askedSha256: string;
  /** Digest of what would run, as the program states it; absent if it states none. */
  runsSha256?: string;
  /** Name of the agent that wants to call the tool. */
  agent?: string;
  /** The session of the agent, as the program states it. */
  session?: string;
  /** The person for whom the agent works, as the program states it. */
  subject?: string;
  /** Milliseconds after its release in which the outcome of the call is due. */
  outcomeWithin: number;
  /** Facts that approvers see next to the arguments. */
  context?: JsonObject;
}

/** A hold, and the use of its call after it was decided. */
export interface Hold extends HoldRequest {
  /** The call that may run; absent until the call is allowed or approved. */
  granted?: GrantedCall;
  /** Absent until the call is allowed or approved. */
  account?: HoldAccount;
}

/** A call as it may run, after MODIFY and edits. */
export interface GrantedCall {
  callId: string;
  args: JsonObject;
  argsSha256: string;
  /** Digest of tool and arguments, as in the log. */
  callSha256?: string;
  runsSha256?: string;
  /** Digest of the policy that ruled on the call. */
  policySha256?: string;
  /** The deferral that released it; absent if no person was asked. */
  deferralId?: string;
}

/** The end of a call as its program reports it. */
export interface HoldOutcome {
  status: 'succeeded' | 'failed' | 'not_run';
  resultSha256?: string;
  error?: string;
}

/** The states of a granted call (src/machines/hold/hold-machine.ts). */
export type HoldState = 'granted' | 'released' | 'closed' | 'unaccounted';

/** The use of a granted call. */
export interface HoldAccount {
  state: HoldState;
  /** Epoch milliseconds at which the program received the call; `null` before. */
  releasedAt: number | null;
  outcome: HoldOutcome | null;
}
