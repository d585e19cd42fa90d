import type { StreamResponse } from '@a2a-js/sdk';
import type { Part, Task } from '../../machines/domain/task.ts';
import { describeSubmitted } from '../../machines/task/describe-task.ts';
import { hasChanged } from '../has-changed.ts';
import type { CoreTasks } from './core-task.ts';
import type { Followed } from './task-follower.ts';

/** The settings of a stream. */
export interface StreamOptions {
  /** True if this stream started the task; the task is then sent as submitted. */
  isNewRun: boolean;
  /** The number of history messages to include; all if absent. */
  historyLength?: number | undefined;
  /**
   * If true, the last chunk of a completed task contains the whole answer, because the client ignores the append flag.
   */
  losesAppend: boolean;
}

/** The part of the answer in one event, and its relation to the previous events. */
interface Chunk {
  parts: Part[];
  append: boolean;
  lastChunk: boolean;
}

/**
 * Converts a task's changes to protocol events. The task comes first, as submitted if the stream started it. Each state
 * change follows, and the answer comes before the end. Model output in between is sent as chunks of the answer. Each
 * turn restarts the answer, and only the last chunk completes it.
 */
export async function* taskUpdates(
  core: CoreTasks,
  followed: AsyncIterable<Followed>,
  { isNewRun, historyLength, losesAppend }: StreamOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  let shown: Task | null = null;
  let said = '';
  for await (const { task, said: piece } of followed) {
    if (piece !== undefined) {
      if (shown === null || !core.hasArtifacts) continue;
      const { text, isFirst } = piece;
      said = isFirst ? text : said + text;
      const parts = [{ kind: 'text', text } as const];
      yield artifactUpdate(core, shown, { parts, append: !isFirst, lastChunk: false });
      continue;
    }
    if (shown === null) {
      shown = isNewRun ? describeSubmitted(task) : task;
      yield { payload: { $case: 'task', value: core.task(shown, historyLength) } };
    }
    const before: Task = shown;
    shown = task;
    if (!hasChanged(before, task)) continue;
    if (task.state === 'completed' && core.hasArtifacts) {
      yield artifactUpdate(core, task, lastChunkOf(task, losesAppend ? '' : said));
    }
    const { id: taskId, contextId } = task;
    const { status, metadata } = core.task(task, 0);
    yield { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata } } };
  }
}

/** Returns the rest of a task's answer, or the whole answer if it does not start with the text already sent. */
export function lastChunkOf({ answer }: Pick<Task, 'answer'>, said: string): Chunk {
  const parts = answer ?? [];
  const [first, ...others] = parts;
  const goesOn = said !== '' && first?.kind === 'text' && first.text.startsWith(said);
  if (!goesOn) return { parts, append: false, lastChunk: true };
  const rest = { kind: 'text', text: first.text.slice(said.length) } as const;
  return { parts: [rest, ...others], append: true, lastChunk: true };
}

function artifactUpdate(
  core: CoreTasks,
  { id, contextId }: Task,
  { parts, append, lastChunk }: Chunk,
): StreamResponse {
  const artifact = core.artifact({ id, answer: parts });
  const value = { taskId: id, contextId, artifact, append, lastChunk, metadata: undefined };
  return { payload: { $case: 'artifactUpdate', value } };
}
