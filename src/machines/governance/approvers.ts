import type { JsonObject } from '../json.ts';
import { oneLine } from '../legible.ts';
import type { Caller, Deferral } from '../task/task.ts';
import { normaliseEmail } from './email.ts';
import { isSameName, isSamePerson, type PersonKey } from './same-person.ts';

/** What somebody who decides on a deferral says and who they are (docs/contract/decisions.md). */
export interface DecisionAttempt {
  verb: 'approve' | 'reject';
  /** The name the approver is given. */
  approver: string | null;
  /** The email that is said to be the approver's. */
  email: string | null;
  note: string;
  /** Who decides, as a token or a chat establishes it; `null` without authentication. */
  caller: Caller | null;
  /** Pins the decision to one deferral. */
  deferralId: string | null;
  /** Pins the decision to the arguments it was shown. */
  argsSha256: string | null;
  /** Arguments that were sent with the decision, which must be those of the call; they count by their digest. */
  args?: JsonObject;
  /** Pins the decision to what would run; absent for none. */
  runsSha256?: string;
  /** Epoch milliseconds. */
  at: number;
  /** The chat that carried it and vouches for the caller, such as `slack`; left out when it came over the endpoint. */
  source?: string;
  /** True when the way it came shows that it may not count, such as a click on a message that nobody posted. */
  isUntrusted?: true;
}

/** The name of the provider behind the daemon's own token, which speaks for nobody but the operator. */
export const runtimeProvider = 'runtime';

/** The name of the provider of people whom a chat knows: they ask over the surface, and decide in the daemon alone. */
export const chatProvider = 'chat';

/**
 * Returns an allowlist without its blank entries, each as it is compared (docs/contract/decisions.md). A malformed
 * entry stays as it is, and nobody matches it.
 */
export function normaliseApprovers(list: readonly string[]): string[] {
  return list.map((entry) => normaliseEmail(entry) ?? entry.trim()).filter((entry) => entry !== '');
}

/**
 * Returns the allowlist of a tool: its own, else the default, else `null` for "anyone in the channel". A list whose
 * entries are all malformed is still a list, so nobody matches it (docs/contract/decisions.md).
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
 * Tells whether an email may decide under an allowlist; without a list anyone may, email or not. A malformed entry
 * never matches, not even the same text (docs/contract/decisions.md).
 */
export function isApprover(approvers: readonly string[] | null, email: string | null): boolean {
  if (approvers === null) return true;
  const normal = normaliseEmail(email ?? '');
  return normal !== null && approvers.includes(normal);
}

/** Returns the email that counts as the approver's: the verified one under `bind_approver`, else the asserted one. */
export function approverEmail(deferral: Deferral, attempt: DecisionAttempt): string | null {
  return isBound(deferral, attempt) ? verifiedEmail(attempt.caller) : presence(attempt.email);
}

/** Returns the name under which a decision is recorded, on one line; `unknown` when nobody gave one. */
export function approverName(deferral: Deferral, attempt: DecisionAttempt): string {
  const verified = isBound(deferral, attempt) ? verifiedEmail(attempt.caller) : null;
  return oneLine(verified ?? presence(attempt.approver) ?? attempt.email);
}

/**
 * Tells who stands behind the name of the approver: `token:<provider>` when it is the verified email of the caller,
 * `chat:<adapter>`, `asserted` when the request just said so, and `nobody` when there is none.
 */
export function vouchedBy(deferral: Deferral, attempt: DecisionAttempt): string {
  const { caller, source } = attempt;
  if (source !== undefined) return `chat:${source}`;
  const name = approverName(deferral, attempt);
  if (caller !== null && isSameName(verifiedEmail(caller), name)) return `token:${caller.provider}`;
  return presence(attempt.approver ?? attempt.email) === null ? 'nobody' : 'asserted';
}

/**
 * Tells whether an attempt comes from somebody who may not decide this deferral (docs/contract/decisions.md).
 * `speakers` have a hand in what was asked for beside the requester.
 */
export function isRefused(
  deferral: Deferral,
  attempt: DecisionAttempt,
  requester: Caller | null,
  speakers: readonly (PersonKey | null)[] = [],
): boolean {
  if (attempt.isUntrusted === true || isChatOverEndpoint(attempt)) return true;
  if (isBound(deferral, attempt) && !isOwnEmail(attempt)) return true;
  if (!isApprover(deferral.approvers, approverEmail(deferral, attempt))) return true;
  if (!deferral.fourEyes) return false;
  return [requester, ...speakers].some((one) => isSameAs(deferral, attempt, one));
}

/**
 * Tells whether a caller may read a held call with all that is hidden from others: those who may decide on it, as far as
 * that is known before they name an approver.
 */
export function maySeeWhole(
  deferral: Deferral,
  caller: Caller | null,
  requester: Caller | null,
): boolean {
  if (caller?.provider === runtimeProvider) return true;
  if (caller === null) return !deferral.bindApprover;
  if (caller.provider === chatProvider) return false;
  if (deferral.fourEyes && isSamePerson(caller, requester)) return false;
  if (!deferral.bindApprover) return true;
  const email = verifiedEmail(caller);
  return email !== null && isApprover(deferral.approvers, email);
}

/** What chats ask with over the surface decides nothing there: a decision of theirs stays in the daemon. */
function isChatOverEndpoint({ caller, source }: DecisionAttempt): boolean {
  return caller?.provider === chatProvider && source === undefined;
}

/** Tells whether the caller has a verified email and claims no other. */
function isOwnEmail({ caller, email }: DecisionAttempt): boolean {
  const verified = verifiedEmail(caller);
  if (verified === null) return false;
  return presence(email) === null || normaliseEmail(email ?? '') === normaliseEmail(verified);
}

function isSameAs(deferral: Deferral, attempt: DecisionAttempt, person: PersonKey | null): boolean {
  if (isSamePerson(attempt.caller, person)) return true;
  const names = [approverEmail(deferral, attempt), attempt.email, attempt.approver];
  return names.some((name) => isSameName(name, person?.email));
}

/** A chat vouches for its people itself; what comes over the endpoint is bound to the token. */
function isBound({ bindApprover }: Deferral, { source }: DecisionAttempt): boolean {
  return bindApprover && source === undefined;
}

/** Returns the email of a verified caller; one that is none is left out. */
function verifiedEmail(caller: Caller | null): string | null {
  const email = caller?.email ?? '';
  return normaliseEmail(email) === null ? null : email.trim();
}

function presence(text: string | null): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}
