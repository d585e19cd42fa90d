import type { Clock } from '../../actors/ports/clock.ts';
import type { DecisionAnswer } from '../../machines/governance/decision.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { RoutedContext } from '../request-state.ts';
import { presentAnswer, readDecision } from '../wire/decision.ts';

/** `POST /tasks/{id}/decisions`: submits a decision to the task and returns the result (docs/contract/decisions.md). */
export function decisions({ clock }: { clock: Clock }) {
  return async function decide(ctx: RoutedContext) {
    const id = ctx.params['id'] ?? '';
    const attempt = readDecision(ctx.request.body, ctx.state.caller, clock.now());
    const answer: DecisionAnswer = isTaskId(id)
      ? await ctx.state.tasks.decide(id, attempt)
      : { kind: 'notPending' };
    const { status, body } = presentAnswer(id, answer);
    ctx.status = status;
    ctx.body = body;
  };
}
