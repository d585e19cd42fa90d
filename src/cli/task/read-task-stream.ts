import type { EventSourceMessage } from 'eventsource-parser';
import { lookLater } from '../agent-failure.ts';
import { CliError } from '../cli-error.ts';
import { type ProgressJson, readAnswer, readEventData, type TaskJson } from './read-answer.ts';

/** One event of a task's stream. */
export interface TaskEventJson {
  id: string;
  event: string;
  data: unknown;
}

/** Receives the events of a stream. The reader awaits each callback. */
export interface TaskListener {
  onEvent?: (event: TaskEventJson) => void;
  onStatus?: (task: TaskJson) => void | Promise<void>;
  onProgress?: (progress: ProgressJson) => void;
}

/** Reads a task's stream to its end and returns the result; `null` if the stream ended without one. */
export async function readTaskStream(
  messages: AsyncIterable<EventSourceMessage>,
  { onEvent, onStatus, onProgress }: TaskListener,
): Promise<TaskJson | null> {
  for await (const { id = '', event = 'message', data: text } of messages) {
    const data = readEventData(text);
    onEvent?.({ id, event, data });
    if (event === 'status') await onStatus?.(readAnswer.task(data));
    if (event === 'progress') onProgress?.(readAnswer.progress(data));
    if (event === 'result') return readAnswer.task(data);
  }
  return null;
}

/** The error for a stream that ended before its task. */
export function streamBroken(id: string, address: { flags: string }): CliError {
  return new CliError(`the stream of task ${id} ended before the task did`, {
    code: 'connection_lost',
    hint: lookLater(id, address),
  });
}
