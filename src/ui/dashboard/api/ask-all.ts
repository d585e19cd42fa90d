import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import type { DeferralsJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { WorkspaceJson } from '../../../http/wire/dashboard/workspace-json.ts';
import type { ApiClient } from './client.ts';

/** The data that the page needs before it can show anything. */
export type WorkspaceAnswers = readonly [WorkspaceJson, AgentJson[], DeferralsJson];

/** Reads the workspace and up to `most` waiting calls per agent; 0 means the default. Throws ApiError. */
export function askAll(client: ApiClient, most = 0): Promise<WorkspaceAnswers> {
  return Promise.all([
    client.get<WorkspaceJson>('/api/workspace'),
    client.get<AgentJson[]>('/api/agents'),
    client.get<DeferralsJson>(`/api/deferrals${most === 0 ? '' : `?most=${most}`}`),
  ]);
}
