import type {
  Approval,
  ArgumentChange,
  CallEdit,
  Deferral,
  SettledDeferral,
} from '../domain/task.ts';
import type { JsonObject } from '../json.ts';
import { legible } from '../legible.ts';
import { approverEmail, approverName, type DecisionAttempt, rightOf } from './approvers.ts';
import { normaliseEmail } from './email.ts';
import { fillsQuorum } from './quorum.ts';
import type { EditRuling } from './ruling.ts';
import { isSameName, isSamePerson, type PersonKey } from './same-person.ts';
import { readEntry } from './standing.ts';

/** The answer to a decision attempt (docs/contract/decisions.md); each kind maps to one HTTP status. */
export type DecisionAnswer =
  | {
      kind: 'resolved' | 'recorded';
      deferralId: string;
      decision: DecisionAttempt['verb'];
      approver: string;
      /** Digest of the changed arguments; absent if the decision changed none. */
      editedSha256?: string;
    }
  | { kind: 'forbidden' }
  /** The rule demands a note for this decision, and the attempt has none. */
  | { kind: 'noReason'; decision: DecisionAttempt['verb'] }
  /** The approval lacks a passkey that confirmed it, which the rule of the call demands. */
  | { kind: 'noPasskey' }
  /** The rule of the call lets no decision change the arguments. */
  | { kind: 'notEditable' }
  /** The changed arguments do not fit the tool; `text` is the finding. */
  | { kind: 'unfit'; text: string }
  /** The approval cannot count for later calls; `text` is the reason. */
  | { kind: 'notRememberable'; text: string }
  | { kind: 'decided'; settled: SettledDeferral }
  | { kind: 'otherDeferral'; pendingId: string }
  | { kind: 'otherArguments'; pendingSha256: string }
  | { kind: 'otherRuns'; pendingSha256: string }
  | { kind: 'notPending' };

/** Returns the answer for a task without a pending deferral: the earlier decision, or that nothing was pending. */
export function answerWithoutPending(settled: SettledDeferral | null): DecisionAnswer {
  if (settled === null || settled.heldAgainAs !== undefined) return { kind: 'notPending' };
  return { kind: 'decided', settled };
}

/** Returns the answer for an attempt pinned to something other than the pending call; `null` if the pins match. */
export function answerMispinned(
  deferral: Deferral,
  attempt: DecisionAttempt,
): DecisionAnswer | null {
  if (attempt.deferralId !== null && attempt.deferralId !== deferral.id) {
    return { kind: 'otherDeferral', pendingId: deferral.id };
  }
  if (attempt.argsSha256 !== null && attempt.argsSha256.toLowerCase() !== deferral.argsSha256) {
    return { kind: 'otherArguments', pendingSha256: deferral.argsSha256 };
  }
  const { runsSha256 = '' } = deferral;
  if (attempt.runsSha256 !== undefined && attempt.runsSha256.toLowerCase() !== runsSha256) {
    return { kind: 'otherRuns', pendingSha256: runsSha256 };
  }
  return null;
}

/** Returns true if the quorum is not reached with one more approval. Approvals of the same person count once. */
export function isShortOfQuorum(deferral: Deferral, attempt: DecisionAttempt): boolean {
  const { approvals } = withApproval(deferral, attempt);
  const { quorum, quorumOf = {} } = deferral;
  return approvals.length < quorum || !fillsQuorum(approvals, quorumOf);
}

/**
 * Returns the deferral with this approval added. The approval counts under the email used as the approver's, so a
 * person cannot count twice by giving two names; without an email it counts under the name. If callers must also
 * differ, naming two approvers does not count twice either.
 */
export function withApproval(deferral: Deferral, attempt: DecisionAttempt): Deferral {
  const approval = approvalOf(deferral, attempt);
  const isCounted = deferral.approvals.some(
    (earlier) =>
      namesOf(earlier).some((name) => namesOf(approval).some((other) => isSameName(name, other))) ||
      (deferral.distinctCallers && isSamePerson(earlier.caller ?? null, attempt.caller)),
  );
  return isCounted ? deferral : { ...deferral, approvals: [...deferral.approvals, approval] };
}

/** The people whose approval this is: the approver, and the person for whom the approver decided. */
function namesOf({ approver, for: delegator }: Approval): string[] {
  return delegator === undefined ? [approver] : [approver, delegator];
}

/** Returns the record of an approval, with the right by which it counts. */
export function approvalOf(deferral: Deferral, attempt: DecisionAttempt): Approval {
  const email = normaliseEmail(approverEmail(deferral, attempt) ?? '');
  const entitlement = entitlementOf(deferral, attempt);
  const approval = {
    ...{ approver: email ?? approverName(deferral, attempt), at: attempt.at },
    ...entitlement,
    ...vouchedByToken(entitlement, attempt),
    ...(attempt.passkey === undefined ? {} : { passkey: true as const }),
  };
  if (attempt.caller === null) return approval;
  const { provider, userId, email: verified } = attempt.caller;
  const caller = { provider, userId, ...(verified === undefined ? {} : { email: verified }) };
  return { ...approval, caller };
}

/** Returns the entries of a deferral that are not emails. */
function namedEntries({ approvers, alsoBy = [], quorumOf = {} }: Deferral): string[] {
  const entries = [...(approvers ?? []), ...alsoBy.flat(), ...Object.keys(quorumOf)];
  return [...new Set(entries)].filter((entry) => readEntry(entry) !== null);
}

/** Returns true if a decision with this verb needs a note. */
export function needsReason(
  { requireReason }: Pick<Deferral, 'requireReason'>,
  verb: DecisionAttempt['verb'],
): boolean {
  return requireReason === 'both' || requireReason === verb;
}

/** Returns true if an attempt lacks the note that the rule demands; it needs a visible letter or digit. */
export function lacksReason(deferral: Deferral, attempt: DecisionAttempt): boolean {
  const visible = attempt.note.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return needsReason(deferral, attempt.verb) && !/[\p{L}\p{N}]/u.test(visible);
}

/** The arguments of a decision, compared with those of the pending call. */
export interface ProposedEdit extends EditRuling {
  args: JsonObject;
  argsSha256: string;
  changes: ArgumentChange[];
  /** The reason why the arguments do not fit the tool; `null` if they do. */
  fault: string | null;
}

/** Maximum changes of the arguments of one call, each of which is stored. */
const maximumEdits = 20;

/** Returns true if an attempt has arguments although its deferral, or its verb, allows none. */
export function mayNotEdit(
  deferral: Deferral,
  { args, verb }: DecisionAttempt,
  edit: ProposedEdit | null,
): boolean {
  if (args === undefined) return false;
  const { isEditable, edits = [] } = deferral;
  return verb !== 'approve' || isEditable !== true || edit === null || edits.length >= maximumEdits;
}

/** Returns true if a decision changes the arguments. */
export function isEdit({ argsSha256 }: Deferral, edit: ProposedEdit | null): edit is ProposedEdit {
  return edit !== null && edit.argsSha256 !== argsSha256;
}

/** Returns the record of the change that an approval makes. */
export function editOf(
  deferral: Deferral,
  attempt: DecisionAttempt,
  { argsSha256: edited, changes }: ProposedEdit,
): CallEdit {
  const { id: deferralId, argsSha256 } = deferral;
  const digests = { before: { argsSha256 }, after: { argsSha256: edited } };
  return { ...approvalOf(deferral, attempt), deferralId, ...digests, changes };
}

/**
 * Returns the people who changed the arguments of a call, by their identity and by the name that they gave, and those for
 * whom they did.
 */
export function editorsOf(edits: readonly CallEdit[] = []): PersonKey[] {
  return edits.flatMap((edit) => [
    ...(edit.caller === undefined ? [] : [edit.caller]),
    ...namesOf(edit).map((name) => ({ provider: '', userId: name, email: name })),
  ]);
}

/** Returns the approver's note with every character visible. */
export function noteOf({ note }: Pick<DecisionAttempt, 'note'>): string {
  return legible(note).trim();
}

/**
 * Returns the entries of the approver lists that an attempt fulfils and that are not emails, and the person who
 * delegated the decision.
 */
export function entitlementOf(
  deferral: Deferral,
  attempt: DecisionAttempt,
): Pick<Approval, 'as' | 'for'> {
  const right = rightOf(deferral, attempt);
  const as = namedEntries(deferral).filter((entry) => right?.as.includes(entry));
  return { ...(as.length === 0 ? {} : { as }), ...delegatedBy(deferral, attempt) };
}

/** Returns the entries of a right that the approver's token vouches for; a token vouches for nobody else's right. */
function vouchedByToken(
  { as = [], for: delegator }: Pick<Approval, 'as' | 'for'>,
  { standing }: DecisionAttempt,
): Pick<Approval, 'byToken'> {
  const { byToken: vouched = [] } = standing ?? {};
  const byToken = delegator === undefined ? as.filter((entry) => vouched.includes(entry)) : [];
  return byToken.length === 0 ? {} : { byToken };
}

/** Returns the person who delegated a decision; empty for the approver's own right. */
function delegatedBy(deferral: Deferral, attempt: DecisionAttempt): { for?: string } {
  const delegator = rightOf(deferral, attempt)?.for;
  return delegator === undefined ? {} : { for: delegator };
}

/** Returns the record of a deferral settled by this attempt. */
export function settle(deferral: Deferral, attempt: DecisionAttempt): SettledDeferral {
  return {
    id: deferral.id,
    tool: deferral.tool,
    argsSha256: deferral.argsSha256,
    decision: attempt.verb,
    approver: approverName(deferral, attempt),
    ...delegatedBy(deferral, attempt),
    note: noteOf(attempt),
    approvers: deferral.approvers,
    decidedAt: attempt.at,
  };
}

/** Returns the answer to a counted attempt: it settled the deferral, or it is one approval of a quorum. */
export function answerCounted(
  kind: 'resolved' | 'recorded',
  deferral: Deferral,
  attempt: DecisionAttempt,
  edit: ProposedEdit | null = null,
): DecisionAnswer {
  const approver = approverName(deferral, attempt);
  const edited = isEdit(deferral, edit) ? { editedSha256: edit.argsSha256 } : {};
  return { kind, deferralId: deferral.id, decision: attempt.verb, approver, ...edited };
}
