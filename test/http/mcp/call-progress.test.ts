import { expect, it } from 'vitest';
import type { Subscriber } from '../../../src/actors/tasks/tasks.ts';
import type { CallerTasks } from '../../../src/http/caller-tasks.ts';
import { Heartbeats } from '../../../src/http/heartbeats.ts';
import { sendProgress } from '../../../src/http/mcp/call-progress.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { aParkedTask, aTask } from '../../helpers/stored-tasks.ts';

/** The progress of task `t` as its client sees it; `follow` is what follows the task. */
function progressOf(meta: Record<string, unknown> = { progressToken: 'p' }) {
  const sent: object[] = [];
  let follow: Subscriber | null = null;
  const tasks = {
    watch: (_: string, watcher: Subscriber) => {
      follow = watcher;
      return () => undefined;
    },
    find: async () => undefined,
  } as unknown as CallerTasks;
  const extra: Parameters<typeof sendProgress>[3] = {
    _meta: meta,
    notify: async ({ params }) => void sent.push(params ?? {}),
  };
  const stop = sendProgress(new Heartbeats(new ManualClock(0), 10_000), tasks, 't', extra);
  return { sent, stop, follow: follow as Subscriber | null };
}

it('progress continues from the hold when the tool reports, and never falls', () => {
  const { sent, stop, follow } = progressOf();
  follow?.onTask?.(aParkedTask('t', 9_000, 2));
  follow?.onTask?.(aTask({ id: 't', state: 'working', revision: 3 }));
  follow?.onToolProgress?.({ progress: 5, total: 10, message: 'half' });
  follow?.onToolProgress?.({ progress: 4 });
  stop();
  follow?.onToolProgress?.({ progress: 9 });
  const _meta = { task_id: 't' };
  expect(sent.slice(1)).toEqual([
    {
      progressToken: 'p',
      progress: 2,
      message: 'continues (task t)',
      _meta: { ..._meta, 'holdpoint/waits': null },
    },
    { progressToken: 'p', progress: 7, total: 12, message: 'half', _meta },
    { progressToken: 'p', progress: 7, _meta },
  ]);
});

it('a client that requests no progress gets none', () => {
  expect(progressOf({}).follow).toBeNull();
});
