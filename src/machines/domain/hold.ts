import type { JsonObject } from '../json.ts';

/** Time limits of the program of a call, in milliseconds. */
export interface HoldTimes {
  /** From its approval until the program fetches the call. */
  releaseWithin: number;
  /** From its release until the program reports the outcome. */
  outcomeWithin: number;
}

/** Facts of a call that its program states and that conditions of rules read. */
export interface CallOrigin {
  /** The folder in which the call works; absent if unknown. */
  cwd?: string;
  /** The coding agent whose hook asks, such as `codex`; absent for a program that asks without a hook. */
  client?: string;
}

/** The request of a program to hold a call that the program runs itself. */
export interface HoldRequest extends HoldTimes, CallOrigin {
  /** Chosen by the program: a request with the same key and digest is the same hold. */
  key: string;
  tool: string;
  /** Digest of the tool, the arguments, `runsSha256` and the folder as requested. */
  askedSha256: string;
  /** Digest of what would run, as the program states it; absent if it states none. */
  runsSha256?: string;
  /** Name of the agent that wants to call the tool. */
  agent?: string;
  /** The session of the agent, as the program states it. */
  session?: string;
  /** The person for whom the agent works, as the program states it. */
  subject?: string;
  /** Identifies the process that asked; absent if it sent none. */
  claim?: string;
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
  /** The arguments before MODIFY; absent if equal to `args`. */
  asked?: JsonObject;
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
export type HoldState = 'granted' | 'released' | 'closed' | 'unaccounted' | 'withdrawn';

/** The states of a hold without a known end: a person decides, then the program runs the call and reports its outcome. */
export const openHoldStates = ['waiting', 'granted', 'released', 'unaccounted'] as const;

export type OpenHoldState = (typeof openHoldStates)[number];

/** The use of a granted call. */
export interface HoldAccount {
  state: HoldState;
  /** Epoch milliseconds at which the call was allowed or approved. */
  grantedAt: number;
  /** Epoch milliseconds at which the program received the call; `null` before. */
  releasedAt: number | null;
  /** Identifies the process that received the call; absent if it sent none. */
  claim?: string;
  outcome: HoldOutcome | null;
  /** Why the approved call may no longer run. */
  withdrawn?: Withdrawal;
}

/** The end of an approval that was never used. */
export interface Withdrawal {
  /** `expired` if the program did not fetch the call in time, `denied` if the policy in force no longer allows it. */
  status: 'expired' | 'denied';
  reason: string;
}
