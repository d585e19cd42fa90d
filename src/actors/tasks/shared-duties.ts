import type { Clock } from '../ports.ts';
import { ConflictError, type TaskStore } from '../records/records.ts';
import type { LiveTask } from './live-task.ts';
import type { LiveTasks } from './live-tasks.ts';
import type { Retention } from './retention.ts';
import type { ForeignChange, SharedDuties } from './shared-work.ts';
import type { TaskFeed } from './task-feed.ts';
import type { TaskReads } from './task-reads.ts';
import type { Watchers } from './watchers.ts';

/** What the duties of a daemon that shares its tasks are done with. */
export interface SharedDutiesPorts {
  tasks: LiveTasks;
  reads: TaskReads;
  watchers: Watchers;
  feed: TaskFeed;
  retention: Retention;
  store: Pick<TaskStore, 'rows'>;
  clock: Clock;
  onRestart: 'abandon' | 'resume';
  /** Sends something to a task that waits, and resolves when its consequences are on disk. */
  tellParked: (id: string, send: (task: LiveTask) => void) => Promise<unknown>;
}

/** How often a task is looked at again that its daemon has changed meanwhile, at most. */
const maximumTries = 4;

/** Does what a daemon is asked for the tasks that it shares with others. */
export function sharedDuties(ports: SharedDutiesPorts): SharedDuties {
  return {
    changed: (change) => takeIn(ports, change),
    takeUp: (id) => takeUp(ports, id),
    wake: (id) => wake(ports, id),
    deleteExpired: () => ports.retention.deleteExpired(),
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

async function wake({ clock, tellParked }: SharedDutiesPorts, id: string): Promise<void> {
  const at = clock.now();
  await tellParked(id, (task) => {
    if (task.isDue(at)) task.actor.send({ type: 'deadline.reached', at });
    // The clocks of two machines differ; the engine asks again.
    else if ((task.committed?.wakeAt ?? at) > at) throw new Error('the deadline is not here yet');
  });
}

/** Gives up or goes on with a task whose daemon is gone, as configured. */
async function takeUp({ tasks, reads, onRestart }: SharedDutiesPorts, id: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const live = tasks.find(id);
      // This daemon was taken for one that is gone.
      if (live !== undefined) await live.claim();
      else if (onRestart === 'resume') await tasks.resume(id);
      else if ((await reads.find(id))?.state !== 'deferred') {
        await (await tasks.abandon(id))?.saved();
      }
      return;
    } catch (error) {
      // The one that was thought to be gone may still have said something.
      if (!(error instanceof ConflictError) || tries === maximumTries) throw error;
    }
  }
}
