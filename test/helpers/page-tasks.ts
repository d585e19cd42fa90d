import type { AgentJson } from '../../src/http/wire/dashboard/agent-json.ts';
import type { TaskDetailJson } from '../../src/http/wire/dashboard/task-detail-json.ts';
import type { TaskRowJson } from '../../src/http/wire/dashboard/task-row-json.ts';
import { anOverview } from './overview-fixtures.ts';
import type { PageApi } from './serve-page.ts';
import { answerLog } from './served-log.ts';
import type { TestAgent } from './test-agent.ts';

/** An agent as the dashboard lists it. */
export function listedAgent(id: string, parts: Partial<AgentJson> = {}): AgentJson {
  return {
    id,
    version: '1.2.0',
    directory: `/agents/${id}`,
    model: { provider: 'scripted', name: 'demo' },
    fallbacks: [],
    tools: ['lookup_order', 'pay'],
    held_tools: ['pay'],
    channels: [],
    skills: [],
    status: 'running',
    needs_passphrase: false,
    pending_deferrals: 0,
    on_restart: 'abandon',
    warnings: [],
    ...parts,
  };
}

/** A row of the list of tasks, the older the higher its number. */
export function listedTask(number: number, parts: Partial<TaskRowJson> = {}): TaskRowJson {
  const at = new Date(Date.UTC(2026, 10, 22, 12) - number * 60_000).toISOString();
  return {
    id: `t-${number}`,
    context_id: 'c-1',
    state: 'completed',
    text: '',
    title: `Refund order ${number}`,
    requester: 'ann@example.com',
    created_at: at,
    changed_at: at,
    ...parts,
  };
}

/** What every page reads, and then what `more` answers. */
export function workspaceApi(agents: AgentJson[], more: PageApi): PageApi {
  return (url, body, request) => {
    switch (url.pathname) {
      case '/api/workspace':
        return { directory: '/agents', version: '0.1.0', token_required: false };
      case '/api/agents':
        return agents;
      case '/api/deferrals':
        return { deferrals: [], total: 0, unasked: [], now: new Date().toISOString() };
      case '/api/overview':
        return anOverview();
      case '/api/outcomes':
        return { open: [], settled: [], unasked: [] };
      case '/api/grants':
        return { grants: [], unasked: [] };
      case '/api/deferrals/decided':
        return { decided: [], unasked: [] };
      default:
        return more(url, body, request) ?? emptyLogOf(url, agents);
    }
  };
}

/** The log of an agent, where a test says nothing of it. */
function emptyLogOf(url: URL, agents: AgentJson[]): unknown {
  return agents.map(({ id }) => answerLog(url, id, { lines: [] })).find((log) => log !== undefined);
}

/** Tells of a task of an agent that runs as the dashboard does. */
export async function detailOf(agent: TestAgent, id: string): Promise<TaskDetailJson> {
  const { body: task } = await agent.get(`/tasks/${id}?history=states&decisions=true`);
  const { states, statechart, decisions, deferral, created_at } = task.metadata;
  return {
    id,
    context_id: task.contextId,
    state: task.status.state,
    text: '',
    title: 'Pay what is owed',
    requester: null,
    created_at,
    changed_at: task.status.timestamp,
    task,
    statechart: { machine: 'task', ...statechart, states },
    decisions: decisions ?? [],
    deferral:
      deferral === undefined
        ? null
        : {
            agent_id: 'refunds',
            task_id: id,
            timeout: '5m0s',
            args: {},
            requester: null,
            quorum: 1,
            approvals: [],
            title: '',
            approvers: null,
            ...deferral,
          },
    timeline: agent.audit(id).map(({ ts, event, fields = {} }, index) => ({
      line: index + 1,
      seq: index + 1,
      at: String(ts),
      event,
      fields,
    })),
  };
}
