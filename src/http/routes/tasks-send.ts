import type { Ids } from '../../actors/ports/ids.ts';
import type { Task } from '../../machines/domain/task.ts';
import { awaitTask } from '../await-task.ts';
import { openTask } from '../open-task.ts';
import type { RoutedContext } from '../request-state.ts';
import { challengeOf } from '../wire/challenge.ts';
import { presentTask } from '../wire/task.ts';

/** `POST /tasks/send`: starts a task and returns it once it is final (docs/contract/transports.md). */
export function tasksSend(ports: { ids: Ids }) {
  return async function send(ctx: RoutedContext) {
    const task = await awaitTask(ctx, await openTask(ports, ctx, ctx.request.body));
    if (task === null) ctx.respond = false;
    else ctx.body = presentEnded(task, ctx.headerSent);
  };
}

/**
 * Formats the task of a send. Throws the challenge for a task that failed because of missing assurance. If the response
 * has begun, the task itself carries the failure.
 */
function presentEnded(task: Task, hasBegun: boolean): ReturnType<typeof presentTask> {
  const challenge = challengeOf(task);
  if (challenge !== null && !hasBegun) throw challenge.rest;
  return presentTask(task);
}
