import type { GrantRequest } from '../domain/grant.ts';
import type { PasskeyConfirmation } from '../domain/passkey-confirmation.ts';
import type { Caller, Deferral } from '../domain/task.ts';
import type { JsonObject } from '../json.ts';
import { oneLine } from '../legible.ts';
import { normaliseEmail } from './email.ts';
import { isSameName, isSamePerson, type PersonKey } from './same-person.ts';
import { fulfils, type Listed, normaliseEntry, type Standing } from './standing.ts';

/** A decision submitted for a deferral, and the identity of the approver (docs/contract/decisions.md). */
export interface DecisionAttempt {
  verb: 'approve' | 'reject';
  /** The approver's name as submitted. */
  approver: string | null;
  /** The approver's email as claimed, unverified. */
  email: string | null;
  note: string;
  /** The approver's identity established by a token or a chat; `null` without authentication. */
  caller: Caller | null;
  /** Pins the decision to one deferral; `null` if not pinned. */
  deferralId: string | null;
  /** Pins the decision to the displayed arguments; `null` if not pinned. */
  argsSha256: string | null;
  /** The arguments with which the approver wants the call to run; absent for the call as it is. */
  args?: JsonObject;
  /** Pins the decision to the digest of what would run; absent if not pinned. */
  runsSha256?: string;
  /** Epoch milliseconds. */
  at: number;
  /** The chat that submitted the decision and vouches for the caller, such as `slack`; absent for the HTTP endpoint. */
  source?: string;
  /** How the approval shall count for later calls; absent for this call only. */
  remember?: GrantRequest;
  /** The entries of approver lists that the approver fulfils now; absent for none. */
  standing?: Standing;
  /** Where the caller has signed in with a browser: the approvals page of the agent, or the dashboard; absent for neither. */
  signedInAt?: 'page' | 'dashboard';
  /** The verified confirmation with a passkey of the caller; absent for none. */
  passkey?: PasskeyConfirmation;
  /** True if the decision's origin is not trustworthy, such as a click on a message that this daemon did not post. */
  isUntrusted?: true;
}

/** Provider name of the daemon's own token, which identifies only the operator. */
export const runtimeProvider = 'runtime';

/** Provider name of chat users. They send requests through the HTTP API, but decide only inside the daemon. */
export const chatProvider = 'chat';

/** Provider name of the monitoring system, which reads the metrics alone. */
export const metricsProvider = 'metrics';

/**
 * Returns an allowlist without blank entries, normalised for comparison (docs/contract/decisions.md). A malformed entry
 * is kept unchanged and matches no email.
 */
export function normaliseApprovers(list: readonly string[]): string[] {
  return list.map((entry) => normaliseEntry(entry) ?? entry.trim()).filter((entry) => entry !== '');
}

/**
 * Returns a tool's allowlist: its own, else the default, else `null` for "anyone in the channel". A list with only
 * malformed entries is still a list, so no email matches it (docs/contract/decisions.md).
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
 * Returns true if a person may decide under an allowlist. Without a list any approver may decide, with or without an
 * email. A malformed entry never matches, not even the same text (docs/contract/decisions.md).
 */
export function isApprover(approvers: readonly string[] | null, person: Listed): boolean {
  return approvers === null || approvers.some((entry) => fulfils(person, entry));
}

/** Returns true if every list of a rule lists a person. */
export function isListed(
  { approvers, alsoBy = [] }: Pick<Deferral, 'approvers' | 'alsoBy'>,
  person: Listed,
): boolean {
  return [approvers, ...alsoBy].every((list) => isApprover(list, person));
}

/**
 * Returns the person by whose right an attempt may decide: the approver, or someone who delegated decisions to the
 * approver; `null` if no one of them may.
 */
export function rightOf(deferral: Deferral, attempt: DecisionAttempt): Right | null {
  const { as = [], for: delegators = [] } = attempt.standing ?? {};
  const own = { email: approverEmail(deferral, attempt), as };
  if (isListed(deferral, own)) return own;
  const delegator = delegators.find((one) => isListed(deferral, one));
  return delegator === undefined ? null : { ...delegator, for: delegator.email };
}

/**
 * Returns true if an attempt can be decided only by the members of a group that cannot be read now: the approver may
 * decide as a member only, or the approval fills a place of the group.
 */
export function isUnchecked(deferral: Deferral, attempt: DecisionAttempt): boolean {
  const { unchecked = [], as, for: delegators = [] } = attempt.standing ?? { as: [] };
  if (unchecked.length === 0) return false;
  const right = rightOf(deferral, attempt);
  if (right === null) {
    const asMember = {
      as: [...as, ...unchecked],
      for: delegators.map((one) => ({ ...one, as: [...one.as, ...unchecked] })),
    };
    return rightOf(deferral, { ...attempt, standing: asMember }) !== null;
  }
  const places = Object.keys(deferral.quorumOf ?? {});
  const fillsOne = places.some((entry) => fulfils(right, entry));
  return attempt.verb === 'approve' && !fillsOne && places.some((one) => unchecked.includes(one));
}

/** Returns the person who makes an attempt; `caller` is `null` if the attempt names someone else than the caller. */
export function attemptedBy({ caller, email: claimed }: DecisionAttempt): {
  email: string | null;
  caller: Caller | null;
} {
  const verified = verifiedEmail(caller);
  const email = presence(claimed) ?? verified;
  const isOwn = presence(claimed) === null || isSameName(claimed, verified);
  return { email, caller: isOwn ? caller : null };
}

/** The person by whose right a decision counts. */
export interface Right extends Listed {
  /** Email of the person who delegated the decision; absent for the approver's own right. */
  for?: string;
}

/** Returns the email used as the approver's: the verified one under `bind_approver`, otherwise the claimed one. */
export function approverEmail(deferral: Deferral, attempt: DecisionAttempt): string | null {
  return isBound(deferral, attempt) ? verifiedEmail(attempt.caller) : presence(attempt.email);
}

/** Returns the name recorded for a decision, on one line; `unknown` if none was given. */
export function approverName(deferral: Deferral, attempt: DecisionAttempt): string {
  const verified = isBound(deferral, attempt) ? verifiedEmail(attempt.caller) : null;
  return oneLine(verified ?? presence(attempt.approver) ?? attempt.email);
}

/**
 * Returns how the approver's name was established: `token:<provider>` for the caller's verified email, `chat:<adapter>`
 * for a chat, `asserted` for an unverified claim, and `nobody` if there is no name.
 */
export function vouchedBy(deferral: Deferral, attempt: DecisionAttempt): string {
  const { caller, source } = attempt;
  if (source !== undefined) return `chat:${source}`;
  const name = approverName(deferral, attempt);
  if (caller !== null && isSameName(verifiedEmail(caller), name)) return `token:${caller.provider}`;
  return presence(attempt.approver ?? attempt.email) === null ? 'nobody' : 'asserted';
}

/**
 * Returns true if an attempt comes from a person who may not decide this deferral (docs/contract/decisions.md).
 * `speakers` contributed to the request in addition to the requester.
 */
export function isRefused(
  deferral: Deferral,
  attempt: DecisionAttempt,
  requester: Caller | null,
  speakers: readonly (PersonKey | null)[] = [],
): boolean {
  if (attempt.isUntrusted === true || isChatOverEndpoint(attempt)) return true;
  if (isBound(deferral, attempt) && !isOwnEmail(attempt)) return true;
  if (isProgram(deferral.separation, attempt.caller)) return true;
  const right = rightOf(deferral, attempt);
  if (right === null) return true;
  if (!excludesAskers(deferral, attempt.caller)) return false;
  return [requester, ...speakers].some(
    (one) => isSameAs(deferral, attempt, one) || isSameName(right.for, one?.email),
  );
}

/**
 * Returns true if a caller may read a held call without redaction: a caller who may decide on it, as far as this is
 * known before an approver is named.
 */
export function maySeeWhole(
  deferral: Deferral,
  caller: Caller | null,
  requester: Caller | null,
  { as, for: delegators = [] }: Standing = { as: [] },
): boolean {
  if (caller?.provider === runtimeProvider) return true;
  if (caller === null) return !deferral.bindApprover;
  if (caller.provider === chatProvider) return false;
  if (isProgram(deferral.separation, caller)) return false;
  if (excludesAskers(deferral, caller) && isSamePerson(caller, requester)) return false;
  if (!deferral.bindApprover) return true;
  const email = verifiedEmail(caller);
  return email !== null && [{ email, as }, ...delegators].some((one) => isListed(deferral, one));
}

/** Returns true if callers may not decide on the calls that they asked for. */
export function excludesAskers(
  { fourEyes, separation }: Pick<Deferral, 'fourEyes' | 'separation'>,
  caller: PersonKey | null,
): boolean {
  return fourEyes === true || (separation !== undefined && caller?.provider !== runtimeProvider);
}

/** Returns true if a caller is a program, which may not decide on the calls of a gate. */
export function isProgram(separation: Deferral['separation'], caller: PersonKey | null): boolean {
  if (separation === undefined || caller === null) return false;
  const { provider, email = '' } = caller;
  if (provider === runtimeProvider || provider === chatProvider) return false;
  if (separation.programs.includes(provider)) return true;
  return normaliseEmail(email) === null && !separation.deciders.includes(provider);
}

/** Chat users cannot decide through the HTTP API; their decisions are submitted inside the daemon. */
function isChatOverEndpoint({ caller, source }: DecisionAttempt): boolean {
  return caller?.provider === chatProvider && source === undefined;
}

/** Returns true if the caller has a verified email and claims no other. */
function isOwnEmail({ caller, email }: DecisionAttempt): boolean {
  const verified = verifiedEmail(caller);
  if (verified === null) return false;
  return presence(email) === null || normaliseEmail(email ?? '') === normaliseEmail(verified);
}

function isSameAs(deferral: Deferral, attempt: DecisionAttempt, person: PersonKey | null): boolean {
  if (isSamePerson(attempt.caller, person)) return true;
  const recorded = approverName(deferral, attempt);
  const names = [approverEmail(deferral, attempt), attempt.email, attempt.approver, recorded];
  return names.some((name) => isSameName(name, person?.email));
}

/** A chat vouches for its users itself; decisions from the endpoint are bound to the token. */
function isBound({ bindApprover }: Deferral, { source }: DecisionAttempt): boolean {
  return bindApprover && source === undefined;
}

/** Returns a verified caller's email; `null` if it is malformed. */
function verifiedEmail(caller: Caller | null): string | null {
  const email = caller?.email ?? '';
  return normaliseEmail(email) === null ? null : email.trim();
}

function presence(text: string | null): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}
