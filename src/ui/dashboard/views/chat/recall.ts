import type { TaskDetailJson } from '../../../../http/wire/dashboard/task-detail-json.ts';
import type { TaskListJson } from '../../../../http/wire/dashboard/task-row-json.ts';
import type { ApiClient } from '../../api/client.ts';
import { agentPath } from '../../api/paths.ts';
import type { ConversationEvent } from './conversation-machine.ts';

/** Maximum number of a session's tasks whose calls are shown, and of the agent's task pages searched for them. */
const bound = { tasks: 20, pages: 5 } as const;

/** Loads a session's latest tasks one at a time, newest first, and reports each. */
export async function recall(
  client: Pick<ApiClient, 'get'>,
  agent: string,
  session: string,
  send: (event: ConversationEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const path = agentPath(agent, 'tasks');
  let left: number = bound.tasks;
  let cursor = '';
  for (let page = 0; page < bound.pages; page += 1) {
    const { tasks, next_cursor: next } = await client.get<TaskListJson>(
      `${path}?limit=100${cursor}`,
      signal,
    );
    for (const { id } of tasks.filter(({ context_id }) => context_id === session)) {
      const detail = await client
        .get<TaskDetailJson>(agentPath(agent, 'tasks', id), signal)
        // The task page reports its errors.
        .catch(() => null);
      if (signal.aborted) return;
      if (detail !== null) send({ type: 'task.recalled', task: id, detail });
      left -= 1;
      if (left === 0) return;
    }
    if (next === undefined) return;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}
