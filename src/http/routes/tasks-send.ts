import type { Ids } from '../../actors/ports.ts';
import type { TaskSystem } from '../../actors/system.ts';
import type { Task } from '../../machines/task/task.ts';
import { heldTask } from '../held-task.ts';
import type { RoutedContext } from '../request-state.ts';
import { challengeOf } from '../wire/challenge.ts';
import { presentTask, type TaskJson } from '../wire/task-json.ts';
import { readSubmission } from '../wire/task-request.ts';

/** `POST /tasks/send`: starts a task and answers with it once it is final (document 1 section 4.2). */
export function tasksSend({ system, ids }: { system: TaskSystem; ids: Ids }) {
  return async function send(ctx: RoutedContext) {
    const { caller: requester, correlationId } = ctx.state;
    const submission = readSubmission(ctx.request.body, () => ids.next());
    const id = system.open({ ...submission, requester, correlationId });
    const task = await heldTask(ctx, system, id);
    if (task === null) ctx.respond = false;
    else ctx.body = presentEnded(task);
  };
}

/** Presents the task of a send. Throws the challenge of one that failed for want of assurance. */
function presentEnded(task: Task): TaskJson {
  const challenge = challengeOf(task);
  if (challenge !== null) throw challenge.rest;
  return presentTask(task);
}
