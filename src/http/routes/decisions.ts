import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import {
  type ListedAnswer,
  presentAnswer,
  readDecision,
  readDecisions,
  readListedDecision,
  taskIdIn,
} from '../wire/decision.ts';

/** Changes the attempt that a body describes to that of its sender. Rejects with a Problem. */
type AttemptOf = (
  attempt: DecisionAttempt,
  ctx: RoutedContext,
) => DecisionAttempt | Promise<DecisionAttempt>;

const asSent: AttemptOf = (attempt) => attempt;

/** `POST /tasks/{id}/decisions`: submits a decision to the task and returns the result (docs/contract/decisions.md). */
export function decisions({ clock }: { clock: Pick<Clock, 'now'> }, own = asSent) {
  return async function decide(ctx: RoutedContext) {
    const id = ctx.params['id'] ?? '';
    const sent = readDecision(ctx.request.body, ctx.state.caller, clock.now());
    const attempt = await own(sent, ctx);
    const { status, body } = await answerTo(ctx.state.tasks, id, attempt);
    ctx.status = status;
    ctx.body = body;
  };
}

/**
 * `POST /deferrals/decisions`: submits each decision to its task, one after the other, and returns each result in the
 * order of the request (docs/contract/decisions.md).
 */
export function decisionList(
  { clock, log }: { clock: Pick<Clock, 'now'>; log: Log },
  own: (attempt: DecisionAttempt) => DecisionAttempt = (attempt) => attempt,
) {
  async function answerOf(item: unknown, { caller, tasks }: RequestState): Promise<ListedAnswer> {
    const task_id = taskIdIn(item);
    try {
      const { taskId, attempt } = readListedDecision(item, caller, clock.now());
      return { task_id, ...(await answerTo(tasks, taskId, own(attempt))) };
    } catch (error) {
      const { status, body } = problemOf(error);
      if (status === 500) log.error({ error, task_id }, 'http: a decision failed');
      return { task_id, status, body };
    }
  }
  return async function decideEach(ctx: RoutedContext) {
    const answers: ListedAnswer[] = [];
    for (const item of readDecisions(ctx.request.body)) {
      answers.push(await answerOf(item, ctx.state));
    }
    ctx.body = { decisions: answers };
  };
}

async function answerTo(tasks: CallerTasks, taskId: string, attempt: DecisionAttempt) {
  const answer = isTaskId(taskId)
    ? await tasks.decide(taskId, attempt)
    : ({ kind: 'notPending' } as const);
  return presentAnswer(taskId, answer);
}
