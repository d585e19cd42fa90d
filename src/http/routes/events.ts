import type { RoutedContext } from '../request-state.ts';
import type { SeenChange } from '../task-changes.ts';
import { presentWait } from '../wire/deferral.ts';
import type { StreamEvent } from '../wire/event-queue.ts';
import { EventStream } from '../wire/sse.ts';
import { presentRow } from '../wire/task-row.ts';

/**
 * `GET /events`: every change of the tasks that the caller may see. A stream that cannot resume after `Last-Event-ID`
 * begins with `reset`, because lists that the client has read may be outdated.
 */
export function eventsFollow() {
  return async function follow(ctx: RoutedContext) {
    const { changes } = ctx.state.tasks;
    const seen = await changes.since(ctx.get('Last-Event-ID'));
    const { position } = changes;
    const stream = new EventStream(ctx, () => leave());
    const tell = (change: SeenChange): void => {
      for (const [event, at] of eventsOf(change)) stream.send({ ...event, id: changes.idOf(at) });
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
  };
}

/** Only the last event of a change carries a position, so a client resumes after complete changes. */
function eventsOf({ taskId, task, wait, position }: SeenChange): [StreamEvent, number][] {
  const row: StreamEvent[] = task === null ? [] : [{ event: 'task', data: presentRow(task) }];
  const data = presentWait(taskId, wait === 'asked' ? task : null);
  const events = wait === null ? row : [...row, { event: 'deferral', data }];
  return events.map((event, index) => [event, position - (events.length - 1 - index)]);
}
