import { createStore } from '@xstate/store';
import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import type { DashboardEvents } from '../../../http/wire/dashboard/dashboard-events.ts';
import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { WorkspaceJson } from '../../../http/wire/dashboard/workspace-json.ts';

/** The page's state of the workspace, kept up to date by the server's events. */
export interface Workspace {
  about: WorkspaceJson | null;
  /** Sorted by ID; `null` until loaded. */
  agents: AgentJson[] | null;
  /** Earliest deadline first; `null` until loaded. */
  deferrals: DeferralJson[] | null;
  /** IDs of running agents whose waiting calls are unknown. */
  unasked: string[];
  /** The reason why loading failed. */
  problem: string | null;
  /** The server requires a token: this tab has none, or a wrong one; or it requires the sign-in of a person. */
  refused: 'missing' | 'wrong' | 'person' | null;
}

export type WorkspaceStore = ReturnType<typeof createWorkspace>;

/** Changes of the state: server responses and events. */
type WorkspaceEvents = {
  read: { about: WorkspaceJson; agents: AgentJson[]; deferrals: DeferralJson[]; unasked: string[] };
  refused: { by: 'missing' | 'wrong' | 'person' };
  signedIn: undefined;
  failed: { problem: string };
  scanned: { agents: AgentJson[] };
  agent: { agent: AgentJson };
  removed: { id: string };
  deferral: DashboardEvents['deferral'];
  task: DashboardEvents['task'];
  signInsMoved: undefined;
};

type Emitted = { task: DashboardEvents['task']; signInsMoved: Record<string, never> };

const empty: Workspace = {
  about: null,
  agents: null,
  deferrals: null,
  unasked: [],
  problem: null,
  refused: null,
};

/**
 * Creates the workspace store. It emits `task` for each change of a task, because no view stores all tasks, and
 * `signInsMoved` whenever a browser sign-in may have progressed.
 */
export function createWorkspace() {
  return createStore<Workspace, WorkspaceEvents, Emitted>({
    context: empty,
    on: {
      read: (context, event, enqueue) => {
        // The missed events may have been about a sign-in.
        enqueue.emit.signInsMoved({});
        return {
          ...context,
          about: event.about,
          agents: byId(event.agents),
          deferrals: byDeadline(event.deferrals),
          unasked: event.unasked,
          problem: null,
          refused: null,
        };
      },
      refused: (context, { by }) => ({ ...context, refused: by }),
      signedIn: (context) => ({ ...context, refused: null }),
      failed: (context, { problem }) => ({ ...context, problem }),
      scanned: (context, { agents }) => ({
        ...context,
        agents: byId(agents),
      }),
      agent: (context, { agent }) => ({
        ...context,
        agents: byId([...(context.agents ?? []).filter(({ id }) => id !== agent.id), agent]),
        deferrals:
          agent.status === 'running' ? context.deferrals : without(context.deferrals, agent.id),
        unasked:
          agent.status === 'running'
            ? context.unasked
            : context.unasked.filter((id) => id !== agent.id),
      }),
      removed: (context, { id }) => ({
        ...context,
        agents: (context.agents ?? []).filter((agent) => agent.id !== id),
        deferrals: without(context.deferrals, id),
        unasked: context.unasked.filter((one) => one !== id),
      }),
      deferral: (context, event) => ({
        ...context,
        agents: (context.agents ?? []).map((agent) =>
          agent.id === event.agent_id ? { ...agent, pending_deferrals: event.pending } : agent,
        ),
        deferrals: byDeadline([
          ...(context.deferrals ?? []).filter(
            ({ agent_id, task_id }) => agent_id !== event.agent_id || task_id !== event.task_id,
          ),
          ...(event.deferral === null ? [] : [event.deferral]),
        ]),
      }),
      task: (context, event, enqueue) => {
        enqueue.emit.task({ agent_id: event.agent_id, task: event.task });
        return context;
      },
      signInsMoved: (context, _, enqueue) => {
        enqueue.emit.signInsMoved({});
        return context;
      },
    },
  });
}

/** Returns the number of waiting calls in all agents, including those not shown. */
export function countWaiting({
  agents,
  deferrals,
}: Pick<Workspace, 'agents' | 'deferrals'>): number {
  const told = (agents ?? []).reduce((sum, { pending_deferrals: pending }) => sum + pending, 0);
  return Math.max(told, deferrals?.length ?? 0);
}

function byId(agents: readonly AgentJson[]): AgentJson[] {
  return agents.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function byDeadline(deferrals: readonly DeferralJson[]): DeferralJson[] {
  return deferrals.toSorted(
    (one, other) => Date.parse(one.expires_at) - Date.parse(other.expires_at),
  );
}

function without(deferrals: readonly DeferralJson[] | null, agent: string): DeferralJson[] {
  return (deferrals ?? []).filter(({ agent_id }) => agent_id !== agent);
}
