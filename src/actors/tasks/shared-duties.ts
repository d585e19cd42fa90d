import type { Clock } from '../ports/clock.ts';
import { ConflictError, type TaskStore } from '../records/records.ts';
import type { LiveTasks } from './live-tasks.ts';
import type { Retention } from './retention.ts';
import type { ForeignChange, SharedDuties } from './shared-work.ts';
import type { TaskFeed } from './task-feed.ts';
import type { TaskInbox } from './task-inbox.ts';
import type { TaskReads } from './task-reads.ts';
import type { Watchers } from './watchers.ts';

export interface SharedDutiesPorts {
  tasks: LiveTasks;
  reads: TaskReads;
  watchers: Watchers;
  feed: TaskFeed;
  retention: Retention;
  store: Pick<TaskStore, 'rows'>;
  clock: Clock;
  onRestart: 'abandon' | 'resume';
  inbox: Pick<TaskInbox, 'tellParked' | 'answer'>;
}

const notYet = 'the deadline is not here yet';

/** Maximum attempts for a task that its daemon changes concurrently. */
const maximumTries = 4;

/** Creates the callbacks for tasks shared with other daemons. */
export function sharedDuties(ports: SharedDutiesPorts): SharedDuties {
  return {
    changed: (change) => takeIn(ports, change),
    takeUp: (id) => takeUp(ports, id),
    wake: (id) => wake(ports, id),
    deleteExpired: () => ports.retention.deleteExpired(),
    answer: (id, request) => ports.inbox.answer(id, request),
  };
}

async function takeIn(
  { tasks, watchers, feed, store }: SharedDutiesPorts,
  { taskId, revision, waited }: ForeignChange,
): Promise<void> {
  tasks.letGo(taskId, revision);
  const isFollowed = watchers.follows(taskId) || feed.followers > 0;
  const task = isFollowed ? await store.rows.find(taskId) : undefined;
  feed.changedElsewhere({ taskId, waited }, task ?? null);
  if (task !== undefined) watchers.changedElsewhere(task);
}

async function wake({ clock, tasks, inbox }: SharedDutiesPorts, id: string): Promise<void> {
  const at = clock.now();
  const told = await inbox.tellParked(id, (task) => {
    if (task.isDue(at)) task.actor.send({ type: 'deadline.reached', at });
    // The clocks of two machines may differ; the engine calls again.
    else if ((task.committed?.wakeAt ?? at) > at) throw new Error(notYet);
  });
  if (told === null && !(await tasks.holds.overdue(id, at))) throw new Error(notYet);
}

/** Abandons or resumes a task whose daemon is dead, as configured. */
async function takeUp({ tasks, reads, onRestart }: SharedDutiesPorts, id: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const live = tasks.find(id);
      // The task belongs to this daemon, which was wrongly considered dead.
      if (live !== undefined) await live.claim();
      else if (onRestart === 'resume') await tasks.resume(id);
      else if ((await reads.find(id))?.state !== 'deferred') {
        await (await tasks.abandon(id))?.saved();
      }
      return;
    } catch (error) {
      // The supposedly dead daemon may still have committed a change.
      if (!(error instanceof ConflictError) || tries === maximumTries) throw error;
    }
  }
}
