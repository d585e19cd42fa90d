import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { TaskDetailJson } from '../../../http/wire/dashboard/task-detail-json.ts';
import type { ApiClient } from '../api/client.ts';
import { agentPath } from '../api/paths.ts';
import { settledWords } from './settled-words.ts';
import type { createToasts } from './toasts.ts';
import type { WorkspaceStore } from './workspace.ts';

/** Calls whose end is told of one by one; more at once are a flood, in which nobody reads. */
const mostAtOnce = 3;

/**
 * Tells on every view who has decided on a call that waited. `own` holds the ids of those that this page decides on
 * itself, of which it says nothing.
 */
export function tellOfDecisions(
  {
    workspace,
    client,
    toasts,
  }: { workspace: WorkspaceStore; client: ApiClient; toasts: ReturnType<typeof createToasts> },
  own: ReadonlySet<string>,
): void {
  let known: readonly DeferralJson[] = [];
  workspace.subscribe(({ context: { agents, deferrals } }) => {
    if (deferrals === null) return;
    const now = new Set(deferrals.map(({ id }) => id));
    const running = new Set(
      agents?.flatMap(({ id, status }) => (status === 'running' ? [id] : [])) ?? [],
    );
    const gone = known.filter(
      ({ id, agent_id }) => !now.has(id) && !own.has(id) && running.has(agent_id),
    );
    known = deferrals;
    if (gone.length <= mostAtOnce) for (const deferral of gone) void tell(deferral);
  });

  async function tell(gone: DeferralJson): Promise<void> {
    const path = agentPath(gone.agent_id, 'tasks', gone.task_id);
    // An agent that has ended meanwhile cannot be asked; its task says so.
    const detail = await client.get<TaskDetailJson>(path).catch(() => null);
    const text = detail === null ? null : settledWords(detail.timeline, gone);
    if (text !== null) toasts.trigger.shown({ text });
  }
}
