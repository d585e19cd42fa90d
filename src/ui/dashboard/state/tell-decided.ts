import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { TaskDetailJson } from '../../../http/wire/dashboard/task-detail-json.ts';
import type { ApiClient } from '../api/client.ts';
import { agentPath } from '../api/paths.ts';
import { settledWords } from './settled-words.ts';
import type { createToasts } from './toasts.ts';
import type { WorkspaceStore } from './workspace.ts';

/** Maximum number of ended calls reported individually; more at once are not reported. */
const mostAtOnce = 3;

/**
 * Reports on every view who decided on a waiting call. Calls in `own` were decided on this page and are not reported.
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
    // An agent that has stopped in the meantime cannot be asked.
    const detail = await client.get<TaskDetailJson>(path).catch(() => null);
    const text = detail === null ? null : settledWords(detail.timeline, gone);
    if (text !== null) toasts.trigger.shown({ text });
  }
}
