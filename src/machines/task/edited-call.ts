import type { Deferral, SettledDeferral } from '../domain/task.ts';
import type { DecisionAttempt } from '../governance/approvers.ts';
import { approvalOf, editOf, type ProposedEdit, settle } from '../governance/decision.ts';
import { withDecision } from './decided-calls.ts';
import { currentCall, pendingDeferral, type TaskContext } from './task-input.ts';

/**
 * Returns the context changes of an approval with other arguments: the current call has them from now on, and only the
 * approval of the person who saw them counts. `deferral` is the pending one under the policy in force.
 */
export function withEdit(
  context: TaskContext,
  { attempt, deferral, edit }: { attempt: DecisionAttempt; deferral: Deferral; edit: ProposedEdit },
): Partial<TaskContext> {
  const made = editOf(deferral, attempt, edit);
  const approval = approvalOf(deferral, attempt);
  const { asked: _, ...call } = currentCall(context);
  const changed = {
    args: edit.args,
    argsSha256: edit.argsSha256,
    edits: [...(call.edits ?? []), made],
  };
  return {
    pending: [{ ...call, ...changed }, ...context.pending.slice(1)],
    held: {
      deferral: { ...pendingDeferral(context), ...changed, approvals: [approval] },
      isReleased: true,
      edited: { before: edit.before, heldAs: edit.heldAs },
    },
    settled: { ...settle(deferral, attempt), edit: made },
    run: withDecision(context.run, { ...deferral, approvals: [] }, attempt, made),
    deferral: null,
    now: attempt.at,
  };
}

/**
 * Returns the last decision once a call is held. The decision on an earlier call is dropped; a decision that changed
 * this call is kept with the new deferral.
 */
export function settledAgain(
  { settled, held }: Pick<TaskContext, 'settled' | 'held'>,
  { id }: Deferral,
): SettledDeferral | null {
  return settled === null || held?.edited === undefined ? null : { ...settled, heldAgainAs: id };
}
