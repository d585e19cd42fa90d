import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import type { DeferralsJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { WorkspaceJson } from '../../../http/wire/dashboard/workspace-json.ts';
import type { ApiClient } from './client.ts';

/** What the page has to read before it can show anything. */
export type WorkspaceAnswers = readonly [WorkspaceJson, AgentJson[], DeferralsJson];

/** Reads the workspace, and of each agent up to `most` waiting calls, or as many as usual for 0. Throws an ApiError. */
export function askAll(client: ApiClient, most = 0): Promise<WorkspaceAnswers> {
  return Promise.all([
    client.get<WorkspaceJson>('/api/workspace'),
    client.get<AgentJson[]>('/api/agents'),
    client.get<DeferralsJson>(`/api/deferrals${most === 0 ? '' : `?most=${most}`}`),
  ]);
}
