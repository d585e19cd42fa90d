import type { AuditEvent } from '../../ports/audit-event.ts';

/** The agent and tenant that a log's events belong to. */
export type AgentEntity = Pick<AuditEvent, 'entity_id' | 'entity_type' | 'org_id' | 'workspace_id'>;

/** Same format as the headers that override it for one request. */
const acceptable = /^[\x20-\x7e]{1,256}$/;

/**
 * Returns the agent and the tenant for events, from SERVICE_ORG_ID and SERVICE_WORKSPACE_ID. A tenant named by a
 * request or an identity takes precedence. Values that are invalid as identifiers are omitted.
 */
export function agentEntity(agentId: string, env: NodeJS.ProcessEnv): AgentEntity {
  const named = (key: 'org_id' | 'workspace_id', variable: string) => {
    const value = env[variable]?.trim() ?? '';
    return acceptable.test(value) ? { [key]: value } : {};
  };
  return {
    entity_id: agentId,
    entity_type: 'agent',
    ...named('org_id', 'SERVICE_ORG_ID'),
    ...named('workspace_id', 'SERVICE_WORKSPACE_ID'),
  };
}
