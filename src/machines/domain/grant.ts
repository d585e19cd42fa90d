import type { CallOrigin } from './hold.ts';
import type { Caller } from './task.ts';

/** How an approver wants an approval to count for later calls. */
export interface GrantRequest {
  /** `task` for calls of the same session, `caller` for all calls of the requester. */
  scope: 'task' | 'caller';
  /** CEL condition that later calls fulfil; absent for calls with equal arguments. */
  when?: string;
  /** Milliseconds. */
  duration: number;
  uses: number;
}

/** The release of later calls that an approver gave with an approval. */
export interface Grant {
  id: string;
  tool: string;
  requester: Pick<Caller, 'provider' | 'userId'> | null;
  /** The session in which it counts; absent for all calls of the requester. */
  session?: string;
  /** `argsSha256` of the calls that it covers; absent if a condition covers them. */
  argsSha256?: string;
  when?: string;
  /** The folder and the coding agent of the call; calls of another origin are not covered. Absent if both are unknown. */
  origin?: CallOrigin;
  /** Digest of what the tool does besides its arguments. */
  runsSha256: string;
  /** Digest of the rule under which it was given: another rule does not honour it. */
  ruleSha256: string;
  /** The deferral whose approval gave it. */
  deferralId: string;
  approver: string;
  /** The approver's identity; absent without authentication. */
  caller?: Pick<Caller, 'provider' | 'userId' | 'email'>;
  /** Email of the person who delegated the decision; absent for the approver's own right. */
  for?: string;
  /** Epoch milliseconds. */
  since: number;
  until: number;
  usesLeft: number;
  /** True after a rejection of a call of the same tool and requester. */
  isSuspended?: true;
}

/** The use of a grant by a call. */
export interface UsedGrant extends Pick<Grant, 'id' | 'approver' | 'for' | 'usesLeft'> {}
