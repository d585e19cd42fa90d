import { isSpanContextValid } from '@opentelemetry/api';
import type { Ids } from '../actors/ports.ts';
import type { TaskRequest } from '../actors/tasks/tasks.ts';
import { writeTraceParent } from '../machines/trace-parent.ts';
import type { RequestState, RoutedContext } from './request-state.ts';
import { tenancyOf } from './wire/request-envelope.ts';
import { readSubmission } from './wire/task-request.ts';

/** Starts the task that a legacy send asks for, which follows it, and returns its id. Throws a 400 Problem or SystemError. */
export async function openTask(
  { ids }: { ids: Ids },
  { state }: RoutedContext,
  body: unknown,
): Promise<string> {
  return openTaskFor(
    state,
    readSubmission(body, () => ids.next()),
    true,
  );
}

/** Starts a task on behalf of a request, and names it in the span of that. Throws SystemError. */
export async function openTaskFor(
  { caller, tasks, correlationId, tags: said, span }: RequestState,
  asked: Pick<TaskRequest, 'id' | 'contextId' | 'message' | 'isKnownById' | 'place' | 'surface'>,
  isFollowed = false,
): Promise<string> {
  const tags = { ...said, ...tenancyOf(caller) };
  const at = span.spanContext();
  const trace = isSpanContextValid(at) ? writeTraceParent(at) : null;
  const id = await tasks.open({ ...asked, correlationId, tags, trace }, isFollowed);
  span.setAttribute('a2a.task.id', id);
  return id;
}
