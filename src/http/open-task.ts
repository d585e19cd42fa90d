import { isSpanContextValid } from '@opentelemetry/api';
import type { Ids } from '../actors/ports.ts';
import type { TaskSystem } from '../actors/system.ts';
import { writeTraceParent } from '../machines/trace-parent.ts';
import type { RoutedContext } from './request-state.ts';
import { tenancyOf } from './wire/request-envelope.ts';
import { readSubmission } from './wire/task-request.ts';

/** Starts the task that a legacy send asks for and returns its id. Throws a 400 Problem or SystemError. */
export function openTask(
  { system, ids }: { system: TaskSystem; ids: Ids },
  { state: { caller: requester, correlationId, tags: said, span } }: RoutedContext,
  body: unknown,
): string {
  const submission = readSubmission(body, () => ids.next());
  const tags = { ...said, ...tenancyOf(requester) };
  const at = span.spanContext();
  const trace = isSpanContextValid(at) ? writeTraceParent(at) : null;
  const id = system.open({ ...submission, requester, correlationId, tags, trace });
  span.setAttribute('a2a.task.id', id);
  return id;
}
