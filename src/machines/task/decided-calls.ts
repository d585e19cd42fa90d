import type { CallEdit, CallOutcome, DecidedCall, Deferral, Task } from '../domain/task.ts';
import type { DecisionAttempt } from '../governance/approvers.ts';
import { settle, withApproval } from '../governance/decision.ts';
import { normaliseEmail } from '../governance/email.ts';
import { cutToRunes } from '../text.ts';
import { callEndOf, type ToolOutcome } from './task-events.ts';
import type { TaskRun } from './task-input.ts';

/** Maximum number of decided calls stored in a task. */
const mostDecided = 50;

/** Maximum stored length of a failed call's error in code points. */
const longestError = 300;

/** Adds a settled deferral to a run's decided calls, with the callers whose decision counted. */
export function withDecision(
  run: TaskRun,
  deferral: Deferral,
  attempt: DecisionAttempt,
  edit?: CallEdit,
): TaskRun {
  const { approvers: _, ...settled } = settle(deferral, attempt);
  const { approvals } = withApproval({ ...deferral, approvals: [] }, attempt);
  const counted = attempt.verb === 'approve' ? [...deferral.approvals, ...approvals] : approvals;
  const by = counted.map(({ caller = null }) => caller);
  const { decided = [] } = run;
  const made = { ...settled, ...(edit === undefined ? {} : { edit }), by };
  return { ...run, decided: [...decided, made].slice(-mostDecided) };
}

/** Adds the outcome of an approved call; the first one counts. */
export function withCallOutcome<Run extends Pick<TaskRun, 'decided'>>(
  run: Run,
  callId: string,
  outcome: CallOutcome,
): Run {
  const { decided = [] } = run;
  if (!decided.some((one) => one.id === callId && isOpen(one))) return run;
  return {
    ...run,
    decided: decided.map((one) => (one.id === callId && isOpen(one) ? { ...one, outcome } : one)),
  };
}

/** Returns the outcome of an approved call from the result of its tool. */
export function callOutcomeOf(outcome: ToolOutcome): CallOutcome {
  if (outcome.kind === 'returned') return { kind: 'ran' };
  if (outcome.kind === 'barred') return { kind: 'neverRan' };
  return callEndOf(outcome) === 'unknown' ? { kind: 'unknown' } : failedWith(outcome.error);
}

/** Returns the outcome of a call that failed. */
export function failedWith(error: string): CallOutcome {
  return { kind: 'failed', error: cutToRunes(error, longestError) };
}

/**
 * Returns a final task whose approved calls all have an outcome: a call that started without an end may have run, and
 * one that never started did not.
 */
export function withEveryOutcome<Ended extends Pick<Task, 'decided' | 'ran'>>(task: Ended): Ended {
  const { decided, ran = [] } = task;
  if (decided === undefined || !decided.some(isOpen)) return task;
  const endOf = ({ id }: DecidedCall): CallOutcome => ({
    kind: ran.some(({ callId }) => callId === id) ? 'unknown' : 'neverRan',
  });
  const closed = decided.map((one) => (isOpen(one) ? { ...one, outcome: endOf(one) } : one));
  return { ...task, decided: closed };
}

/** Returns the decided calls whose outcome became known between two versions of a task; `null` for no earlier one. */
export function newOutcomes(before: Task | null, { decided = [] }: Task): DecidedCall[] {
  const known = before?.decided ?? [];
  return decided.filter(
    ({ id, outcome }) =>
      outcome !== undefined && known.find((one) => one.id === id)?.outcome === undefined,
  );
}

/**
 * Returns the keys under which a caller's decisions are found: the identity, and the verified email. All callers without
 * authentication are one. No email contains a line break.
 */
export function decidersOf(caller: DecidedCall['by'][number]): string[] {
  const email = normaliseEmail(caller?.email ?? '');
  const identity = caller === null ? '' : `${caller.provider}\n${caller.userId}`;
  return [identity, ...(email === null ? [] : [email])].map((key) => `decided\n${key}`);
}

function isOpen({ decision, outcome }: DecidedCall): boolean {
  return decision === 'approve' && outcome === undefined;
}
