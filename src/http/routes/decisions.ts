import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import { type Answer, holding } from '../openapi/operation.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import {
  decided,
  decisionConflict,
  noDecision,
  presentAnswer,
  readDecision,
  readDecisions,
  readListedDecision,
  refuseUnpinned,
  taskIdIn,
} from '../wire/decision.ts';
import { Problem, refusal } from '../wire/problem.ts';

/** The responses to a decision. */
export const decisionResponses: Readonly<Record<number, Answer>> = {
  200: holding('The decision is on disk.', decided),
  400: holding('The body holds no decision.', refusal, {
    example: { error: noDecision, code: 'invalid_body' },
  }),
  403: holding('The approver may not decide; the call still waits.', refusal, {
    example: { error: 'approver not authorized', code: 'approver_not_authorized' },
  }),
  404: holding('Nothing waits.', refusal, {
    example: { error: 'no pending deferral for task', code: 'deferral_not_found' },
  }),
  409: holding('Already decided, or the pinned deferral or digest differs.', decisionConflict),
};

/** Adds the confirmation with a passkey that a body has to an attempt. Rejects with a Problem. */
type Confirmed = (attempt: DecisionAttempt, ctx: RoutedContext) => Promise<DecisionAttempt>;

const unconfirmed: Confirmed = async (attempt) => attempt;

/** `POST /tasks/{id}/decisions`: submits a decision to the task and returns the result (docs/contract/decisions.md). */
export function decisions({ clock }: { clock: Pick<Clock, 'now'> }, confirmed = unconfirmed) {
  return async function decide(ctx: RoutedContext) {
    const id = ctx.params['id'] ?? '';
    const read = readDecision(ctx.request.body, ctx.state.caller, clock.now());
    const attempt = await confirmed(ofSender(read, ctx.state), ctx);
    const { status, body } = await answerTo(ctx.state.tasks, id, attempt);
    ctx.status = status;
    ctx.body = body;
  };
}

/**
 * `POST /deferrals/decisions`: submits each decision to its task, one after the other, and returns each result in the
 * order of the request (docs/contract/decisions.md).
 */
export function decisionList({ clock, log }: { clock: Pick<Clock, 'now'>; log: Log }) {
  async function answerOf(item: unknown, state: RequestState) {
    const { caller, tasks } = state;
    const task_id = taskIdIn(item);
    try {
      const { taskId, attempt } = readListedDecision(item, caller, clock.now());
      const { status, body } = await answerTo(tasks, taskId, ofSender(attempt, state));
      return { task_id, status, body };
    } catch (error) {
      const { status, body } = problemOf(error);
      if (status === 500) log.error({ error, task_id }, 'http: a decision failed');
      return { task_id, status, body };
    }
  }
  return async function decideEach(ctx: RoutedContext) {
    const answers: object[] = [];
    for (const item of readDecisions(ctx.request.body)) {
      answers.push(await answerOf(item, ctx.state));
    }
    ctx.body = { decisions: answers };
  };
}

/**
 * Makes a decision one of the person who has signed in with a browser: a name or an email in the body counts for
 * nothing, and the decision must name the call that the person saw. Throws a Problem.
 */
export function ofSender(attempt: DecisionAttempt, { signedInAt }: RequestState): DecisionAttempt {
  if (signedInAt === undefined) return attempt;
  const email = attempt.caller?.email;
  if (email === undefined) {
    const error = 'your account has no verified email, so you cannot decide; ask the operator';
    throw new Problem('unverified_email', error);
  }
  refuseUnpinned(attempt);
  return { ...attempt, approver: null, email, signedInAt };
}

async function answerTo(tasks: CallerTasks, taskId: string, attempt: DecisionAttempt) {
  const answer = isTaskId(taskId)
    ? await tasks.decide(taskId, attempt)
    : ({ kind: 'notPending' } as const);
  return presentAnswer(taskId, answer);
}
