import type { Ids } from '../actors/ports.ts';
import type { TaskSystem } from '../actors/system.ts';
import type { RoutedContext } from './request-state.ts';
import { tenancyOf } from './wire/request-envelope.ts';
import { readSubmission } from './wire/task-request.ts';

/** Starts the task that a legacy send asks for and returns its id. Throws a 400 Problem or SystemError. */
export function openTask(
  { system, ids }: { system: TaskSystem; ids: Ids },
  { state: { caller: requester, correlationId, tags: said } }: RoutedContext,
  body: unknown,
): string {
  const submission = readSubmission(body, () => ids.next());
  const tags = { ...said, ...tenancyOf(requester) };
  return system.open({ ...submission, requester, correlationId, tags });
}
