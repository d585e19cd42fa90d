import type { Approval } from '../domain/task.ts';
import type { HeldCall, ToolRules } from './ruling.ts';
import type { PersonKey } from './same-person.ts';
import { tightened } from './tightened.ts';

interface EditedCall {
  held: HeldCall | null;
  rules: Pick<ToolRules, 'defer' | 'names'>;
  requester: PersonKey | null;
  speakers: readonly (PersonKey | null)[];
}

/** Returns true if the rule of a call is that of the call before its approver changed it; also for an unchanged call. */
export function isUnderSameRule({ held, rules }: Pick<EditedCall, 'held' | 'rules'>): boolean {
  if (held?.edited === undefined) return true;
  const { rule, name } = held.edited.before;
  const applied = [rules.names?.defer ?? null, rules.defer];
  return JSON.stringify(applied) === JSON.stringify([name, rule]);
}

/**
 * Returns the approvals that count for a call with changed arguments. With `four_eyes` the person who chose the
 * arguments may not be the one who approves them.
 */
export function approvalsOfEdit(context: EditedCall): Approval[] {
  const counted = underCurrentRule(context);
  return counted === null || counted.fourEyes || !isUnderSameRule(context) ? [] : counted.approvals;
}

/**
 * Returns true if no other person must approve a call whose arguments an approver changed: the same rule applies and has
 * its approvals, or the rules hold no such call.
 */
export function needsNoOther(context: EditedCall): boolean {
  if (context.held?.edited === undefined) return true;
  if (!isUnderSameRule(context)) return context.rules.defer === null;
  const counted = underCurrentRule(context);
  return counted !== null && approvalsOfEdit(context).length >= counted.quorum;
}

function underCurrentRule({ held, rules, requester, speakers }: EditedCall) {
  if (held?.edited === undefined) return null;
  return tightened(held.deferral, rules.defer, [requester, ...speakers]);
}
