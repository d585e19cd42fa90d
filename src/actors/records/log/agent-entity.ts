import type { AuditEvent } from '../../ports.ts';

/** Whose agent the events of a log are about. */
export type AgentEntity = Pick<AuditEvent, 'entity_id' | 'entity_type' | 'org_id' | 'workspace_id'>;

/** The same form as the headers that say otherwise for one request. */
const acceptable = /^[\x20-\x7e]{1,256}$/;

/**
 * Reads whose agent the events are about: itself, and the tenant that SERVICE_ORG_ID and SERVICE_WORKSPACE_ID name. A
 * request or an identity that names another tenant counts for more. A value that no identifier has is left out.
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
