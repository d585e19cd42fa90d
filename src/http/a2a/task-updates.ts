import type { StreamResponse } from '@a2a-js/sdk';
import { describeSubmitted } from '../../machines/task/describe-task.ts';
import type { Task } from '../../machines/task/task.ts';
import { hasChanged } from '../has-changed.ts';
import type { CoreTasks } from './core-task.ts';

/** The first events of a stream. */
export interface StreamBeginning {
  /** True shows the task as submitted, as the stream began its run. */
  isNewRun: boolean;
  /** The number of messages in the history of the task; all of them when absent. */
  historyLength?: number | undefined;
}

/**
 * Tells the changes of a task in the events of the protocol: the task itself first, as submitted where the
 * stream began the run, then each change of its state, and the answer before the end.
 */
export async function* taskUpdates(
  core: CoreTasks,
  changes: AsyncIterable<Task>,
  { isNewRun, historyLength }: StreamBeginning,
): AsyncGenerator<StreamResponse, void, undefined> {
  let shown: Task | null = null;
  for await (const task of changes) {
    if (shown === null) {
      shown = isNewRun ? describeSubmitted(task) : task;
      yield { payload: { $case: 'task', value: core.task(shown, historyLength) } };
    }
    const before = shown;
    shown = task;
    if (!hasChanged(before, task)) continue;
    const { id: taskId, contextId } = task;
    if (task.state === 'completed') {
      const artifact = core.artifact(task);
      const end = { append: false, lastChunk: true, metadata: undefined };
      yield {
        payload: { $case: 'artifactUpdate', value: { taskId, contextId, artifact, ...end } },
      };
    }
    const { status, metadata } = core.task(task, 0);
    yield { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata } } };
  }
}
