import type { SystemError } from '../../actors/tasks/tasks.ts';
import { isFinal, type Task } from '../../machines/task/task.ts';
import type { CallerTasks } from '../caller-tasks.ts';

/** Changes of a task that may wait to be read; beyond them the oldest gives way. */
const maximumWaiting = 1_000;

/**
 * Yields a task now and after every change, until it is final. Ends when the signal is
 * aborted; throws SystemError when the task can no longer be followed.
 */
export async function* followTask(
  tasks: CallerTasks,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Task, void, undefined> {
  const waiting: Task[] = [];
  let lost: Error | null = null;
  let wake: () => void = () => undefined;
  const take = (task: Task): void => {
    if (waiting.push(task) > maximumWaiting) waiting.shift();
    wake();
  };
  const leave = tasks.watch(id, {
    onTask: take,
    onStep: take,
    onLost: (error) => {
      lost = error;
      wake();
    },
  });
  const abort = (): void => wake();
  signal.addEventListener('abort', abort);
  try {
    const first = tasks.find(id);
    let shown = -1;
    if (first !== undefined) waiting.unshift(first);
    while (!signal.aborted) {
      const task = waiting.shift();
      if (task !== undefined) {
        if (task.revision <= shown) continue;
        shown = task.revision;
        yield task;
        if (isFinal(task.state)) return;
        continue;
      }
      if (lost !== null) throw lost as SystemError;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal.aborted || lost !== null || waiting.length > 0) resolve();
      });
    }
  } finally {
    leave();
    signal.removeEventListener('abort', abort);
  }
}
