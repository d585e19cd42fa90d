import type { Caller, Deferral } from '../task/task.ts';
import { isEmailShaped } from './email.ts';

/** What somebody who decides on a deferral says and who they are (document 1 section 2.2). */
export interface DecisionAttempt {
  verb: 'approve' | 'reject';
  /** The name the caller gives the approver. */
  approver: string | null;
  /** The email the caller asserts as the approver's. */
  email: string | null;
  note: string;
  /** The verified identity of the caller; `null` without authentication. */
  caller: Caller | null;
  /** Pins the decision to one deferral. */
  deferralId: string | null;
  /** Pins the decision to the arguments it was shown. */
  argsSha256: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** What carried it, such as `slack`; left out when it came over the endpoint itself. */
  source?: string;
  /** True when the way it came shows that it may not count, such as a click on a message that nobody posted. */
  isUntrusted?: true;
}

/** The name of the provider behind the daemon's own token, which speaks for whoever clicked. */
export const runtimeProvider = 'runtime';

/** Returns an allowlist trimmed and in lower case, without its blank entries (contract section 6). */
export function normaliseApprovers(list: readonly string[]): string[] {
  return list.map(normaliseEmail).filter((entry) => entry !== '');
}

/**
 * Returns the allowlist of a tool: its own, else the default, else `null` for "anyone in the channel".
 * A list whose entries are all malformed is still a list, so nobody matches it (contract section 6).
 */
export function effectiveApprovers(
  own: readonly string[],
  fallback: readonly string[],
): string[] | null {
  for (const list of [own, fallback]) {
    const entries = normaliseApprovers(list);
    if (entries.length > 0) return entries;
  }
  return null;
}

/**
 * Tells whether an email may decide under an allowlist; without a list anyone may, email or not.
 * A malformed entry never matches, not even the same text (document 1 section 5).
 */
export function isApprover(approvers: readonly string[] | null, email: string | null): boolean {
  if (approvers === null) return true;
  return email !== null && isEmailShaped(email) && approvers.includes(normaliseEmail(email));
}

/**
 * Returns the email that counts as the approver's: the verified one under `bind_approver`,
 * else the asserted one.
 */
export function approverEmail(deferral: Deferral, attempt: DecisionAttempt): string | null {
  return boundEmail(deferral, attempt) ?? presence(attempt.email);
}

/** Returns the name under which a decision is recorded; `unknown` when nobody gave one. */
export function approverName(deferral: Deferral, attempt: DecisionAttempt): string {
  return (
    boundEmail(deferral, attempt) ??
    presence(attempt.approver) ??
    presence(attempt.email) ??
    'unknown'
  );
}

/** Tells whether an attempt comes from somebody who may not decide this deferral (contract section 6). */
export function isRefused(
  deferral: Deferral,
  attempt: DecisionAttempt,
  requester: Caller | null,
): boolean {
  if (attempt.isUntrusted === true) return true;
  const bound = boundEmail(deferral, attempt);
  const asserted = presence(attempt.email);
  if (bound !== null && asserted !== null && !sameEmail(bound, asserted)) return true;
  if (!isApprover(deferral.approvers, approverEmail(deferral, attempt))) return true;
  return deferral.fourEyes && isRequester(deferral, attempt, requester);
}

function isRequester(
  deferral: Deferral,
  attempt: DecisionAttempt,
  requester: Caller | null,
): boolean {
  if (requester === null) return false;
  const { caller } = attempt;
  if (caller !== null && !isNobodyInParticular(caller)) {
    if (caller.provider === requester.provider && caller.userId === requester.userId) return true;
    if (sameEmail(caller.email, requester.email)) return true;
  }
  return (
    sameEmail(approverEmail(deferral, attempt), requester.email) ||
    sameEmail(attempt.approver, requester.email)
  );
}

/** The daemon's own token without the word on behalf of whom it is shown. */
function isNobodyInParticular({ provider, userId }: Caller): boolean {
  return provider === runtimeProvider && userId === runtimeProvider;
}

function boundEmail(deferral: Deferral, { caller }: DecisionAttempt): string | null {
  if (!deferral.bindApprover || caller === null || caller.provider === runtimeProvider) return null;
  return presence(caller.email);
}

function sameEmail(one: string | null | undefined, other: string | null | undefined): boolean {
  const email = presence(one);
  return email !== null && normaliseEmail(email) === normaliseEmail(other ?? '');
}

function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}

function presence(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}
