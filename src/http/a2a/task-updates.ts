import type { StreamResponse } from '@a2a-js/sdk';
import type { Task } from '../../machines/task/task.ts';
import type { CoreTasks } from './core-task.ts';

/**
 * Tells the changes of a task in the events of the protocol: the task itself first, then each change of
 * its state, and the answer before the end.
 */
export async function* taskUpdates(
  core: CoreTasks,
  changes: AsyncIterable<Task>,
): AsyncGenerator<StreamResponse, void, undefined> {
  let shown: Task | null = null;
  for await (const task of changes) {
    const before = shown;
    shown = task;
    if (before === null) {
      yield { payload: { $case: 'task', value: core.task(task) } };
      continue;
    }
    const { id: taskId, contextId, state, text, deferral } = task;
    const isNews =
      before.state !== state ||
      before.text !== text ||
      before.deferral?.approvals.length !== deferral?.approvals.length;
    if (!isNews) continue;
    if (state === 'completed') {
      const artifact = core.artifact(task);
      const end = { append: false, lastChunk: true, metadata: undefined };
      yield {
        payload: { $case: 'artifactUpdate', value: { taskId, contextId, artifact, ...end } },
      };
    }
    const { metadata } = core.task(task, 0);
    yield {
      payload: {
        $case: 'statusUpdate',
        value: { taskId, contextId, status: core.status(task), metadata },
      },
    };
  }
}
