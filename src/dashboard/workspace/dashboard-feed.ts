import type { Log } from '../../actors/ports/log.ts';
import type { WorkspaceAgent, WorkspaceListener } from '../../actors/workspace/workspace.ts';
import { presentRow } from '../../http/wire/dashboard/agent-task.ts';
import { messageOf } from '../../machines/message-of.ts';
import { taskOf } from '../reading/agent-tasks.ts';
import type { DashboardHub } from './dashboard-hub.ts';
import type { HeldLooks } from './held-looks.ts';
import { presentAgent } from './present-agent.ts';

/** Publishes the events of a workspace to the dashboard's clients. */
export function dashboardFeed({
  hub,
  looks,
  log,
}: {
  hub: DashboardHub;
  looks: HeldLooks;
  log: Log;
}): WorkspaceListener {
  const show = (agent: WorkspaceAgent) => presentAgent(agent, looks.count(agent.id));
  const skip = (error: unknown): void => {
    // An agent that stops during the request is already reported through its state.
    const reason = messageOf(error);
    log.info({ reason }, 'dashboard: an agent could not be reached');
  };
  const tellTask = async (agent: WorkspaceAgent, id: string): Promise<void> => {
    const task = await taskOf(agent, id);
    if (task !== null) hub.tell('task', { agent_id: agent.id, task: presentRow(task) });
  };
  return {
    onCreated: (agent) => hub.tell('agent_created', show(agent)),
    onRemoved(id) {
      looks.forget(id);
      hub.tell('agent_removed', { id });
    },
    onChange(agent) {
      if (agent.served === null) looks.forget(agent.id);
      hub.tell('agent_status', show(agent));
    },
    async onTasks(agent, ids) {
      for (const id of ids) await tellTask(agent, id).catch(skip);
      await looks.look(agent).catch(skip);
    },
    onGap(agent) {
      hub.tell('reset', {});
      looks.look(agent).catch(skip);
    },
  };
}
