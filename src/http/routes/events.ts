import type { CallerTasks } from '../caller-tasks.ts';
import { eventStream } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import type { SeenChange } from '../task-changes.ts';
import { deferralEvent, presentWait } from '../wire/deferral.ts';
import type { StreamEvent } from '../wire/event-queue.ts';
import { EventStream } from '../wire/sse.ts';
import { presentRow, taskRow } from '../wire/task-row.ts';
import { lastEventId, type Routes } from './route.ts';

/** The stream of all tasks. */
export const eventRoutes: Routes = {
  'GET /events': {
    id: 'followTasks',
    tag: 'tasks',
    says: 'Streams every change of the tasks that the caller can read.',
    parameters: [lastEventId],
    answers: {
      200: {
        says: 'Events: task with a task in one line, deferral with a call that waits, or with null when it waits no more, and reset when the lists have to be read anew.',
        content: { [eventStream]: null },
        events: { task: taskRow, deferral: deferralEvent },
      },
    },
    answer: follow,
  },
};

/**
 * Streams changes. A stream that cannot resume after `Last-Event-ID` begins with `reset`, because lists that the client
 * has read may be outdated.
 */
async function follow(ctx: RoutedContext): Promise<void> {
  const { tasks } = ctx.state;
  const { changes } = tasks;
  const seen = await changes.since(ctx.get('Last-Event-ID'));
  const { position } = changes;
  const stream = new EventStream(ctx, () => leave());
  const tell = (change: SeenChange): void => {
    for (const [event, at] of eventsOf(change, tasks))
      stream.send({ ...event, id: changes.idOf(at) });
  };
  const leave = changes.follow({
    onChange: tell,
    onEnd: () => {
      leave();
      stream.end();
    },
  });
  if (seen === null) stream.send({ id: position, event: 'reset', data: {} });
  else seen.forEach(tell);
}

/** Only the last event of a change carries a position, so a client resumes after complete changes. */
function eventsOf(
  { taskId, task, wait, position }: SeenChange,
  tasks: CallerTasks,
): [StreamEvent, number][] {
  const row: StreamEvent[] = task === null ? [] : [{ event: 'task', data: presentRow(task) }];
  const held = wait === 'asked' ? task : null;
  const data = presentWait(taskId, held, held === null ? undefined : tasks.sees(held));
  const events = wait === null ? row : [...row, { event: 'deferral', data }];
  return events.map((event, index) => [event, position - (events.length - 1 - index)]);
}
