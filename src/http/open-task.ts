import type { Ids } from '../actors/ports.ts';
import type { TaskSystem } from '../actors/system.ts';
import type { Caller } from '../machines/task/task.ts';
import type { RoutedContext } from './request-state.ts';
import { readSubmission } from './wire/task-request.ts';

/** Starts the task that a legacy send asks for and returns its id. Throws a 400 Problem or SystemError. */
export function openTask(
  { system, ids }: { system: TaskSystem; ids: Ids },
  { state: { caller: requester, correlationId, tags: said } }: RoutedContext,
  body: unknown,
): string {
  const submission = readSubmission(body, () => ids.next());
  return system.open({ ...submission, requester, correlationId, tags: tagsOf(said, requester) });
}

/** A tenant that the identity vouches for counts for more than one that a header names. */
function tagsOf(said: Record<string, string>, requester: Caller | null): Record<string, string> {
  return {
    ...said,
    ...(requester?.orgId === undefined ? {} : { org_id: requester.orgId }),
    ...(requester?.workspaceId === undefined ? {} : { workspace_id: requester.workspaceId }),
  };
}
