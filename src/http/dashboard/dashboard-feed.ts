import type { Log } from '../../actors/ports.ts';
import type { WorkspaceAgent, WorkspaceListener } from '../../actors/workspace/workspace.ts';
import { presentRow } from '../wire/dashboard/agent-task.ts';
import { presentAgent } from '../wire/dashboard/present-agent.ts';
import { deferralsOf, taskOf } from './agent-tasks.ts';
import type { DashboardHub } from './dashboard-hub.ts';
import type { PendingCounts } from './pending-counts.ts';

/** Tells the clients of the dashboard what happens in a workspace. */
export function dashboardFeed({
  hub,
  pending,
  log,
}: {
  hub: DashboardHub;
  pending: PendingCounts;
  log: Log;
}): WorkspaceListener {
  const show = (agent: WorkspaceAgent) => presentAgent(agent, pending.of(agent.id));
  const skip = (error: unknown): void => {
    // An agent that ends while it is asked is told of by its state.
    const reason = error instanceof Error ? error.message : String(error);
    log.info({ reason }, 'dashboard: an agent could not be asked');
  };
  const tellTask = async (agent: WorkspaceAgent, id: string): Promise<void> => {
    const task = await taskOf(agent, id);
    if (task !== null) hub.tell('task', { agent_id: agent.id, task: presentRow(task) });
  };
  const tellNow = async (agent: WorkspaceAgent): Promise<void> => {
    const found = await deferralsOf(agent);
    const now = new Map(found.map(({ id, task_id: task }) => [id, task]));
    const { begun, ended } = pending.update(agent.id, now);
    const told = { agent_id: agent.id, pending: now.size };
    for (const { task } of ended) hub.tell('deferral', { ...told, deferral: null, task_id: task });
    for (const deferral of found.filter(({ id }) => begun.includes(id))) {
      hub.tell('deferral', { ...told, deferral, task_id: deferral.task_id });
    }
    if (begun.length + ended.length > 0) hub.tell('agent_status', show(agent));
  };
  const telling = new WeakMap<WorkspaceAgent, Promise<void>>();
  // One after the other: of two answers the one that comes last need not be the newer one.
  const tellDeferrals = (agent: WorkspaceAgent): Promise<void> => {
    const told = (telling.get(agent) ?? Promise.resolve()).then(() => tellNow(agent)).catch(skip);
    telling.set(agent, told);
    return told;
  };
  return {
    onCreated: (agent) => hub.tell('agent_created', show(agent)),
    onRemoved: (id) => hub.tell('agent_removed', { id }),
    onChange: (agent) => {
      if (agent.served === null) pending.update(agent.id, new Map());
      hub.tell('agent_status', show(agent));
    },
    async onTasks(agent, ids) {
      for (const id of ids) await tellTask(agent, id).catch(skip);
      await tellDeferrals(agent);
    },
    onGap: (agent) => {
      hub.tell('reset', {});
      void tellDeferrals(agent);
    },
  };
}
