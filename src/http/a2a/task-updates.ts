import type { StreamResponse } from '@a2a-js/sdk';
import { describeSubmitted } from '../../machines/task/describe-task.ts';
import type { Part, Task } from '../../machines/task/task.ts';
import { hasChanged } from '../has-changed.ts';
import type { CoreTasks } from './core-task.ts';
import type { Followed } from './follow-task.ts';

/** Who a stream is for. */
export interface StreamOptions {
  /** True shows the task as submitted, as the stream began its run. */
  isNewRun: boolean;
  /** The number of messages in the history of the task; all of them when absent. */
  historyLength?: number | undefined;
  /** True ends a completed task with its whole answer, as nobody reads that a chunk is appended. */
  losesAppend: boolean;
}

/** What of the answer one event carries, and what it means to what came before. */
interface Chunk {
  parts: Part[];
  append: boolean;
  lastChunk: boolean;
}

/**
 * Tells the changes of a task in the events of the protocol: the task itself first, as submitted where the
 * stream began the run, then each change of its state, and the answer before the end. What the model says meanwhile are
 * chunks of the answer; each turn begins it anew, and only the last chunk makes it whole.
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

/** Returns what is left of the answer of a task, or the whole of it where it does not begin with what was said. */
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
