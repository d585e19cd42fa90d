import type { AuditEvent, Clock } from '../../actors/ports.ts';
import type { Caller } from '../../machines/task/task.ts';
import type { RequestState } from '../request-state.ts';

/** Who the events of an agent are about, and when they happen. */
export interface EnvelopePorts {
  /** Who the events are about; a tenancy that is absent here is the caller's. */
  entity: Pick<AuditEvent, 'entity_id' | 'entity_type' | 'org_id' | 'workspace_id'>;
  clock: Pick<Clock, 'now'>;
}

/** All of an event that a request causes before it has a task, but what the event itself says (contract section 10). */
export function requestEnvelope(
  { entity, clock }: EnvelopePorts,
  { tags, correlationId, nextSequence }: RequestState,
  caller: Caller | null,
): Omit<AuditEvent, 'event' | 'fields'> {
  return {
    ...tags,
    ...tenancyOf(caller),
    ...entity,
    ts: new Date(clock.now()).toISOString(),
    seq: nextSequence(),
    correlation_id: correlationId,
  };
}

/** The tenant that an identity vouches for, which counts for more than one that a header names. */
export function tenancyOf(caller: Caller | null): { org_id?: string; workspace_id?: string } {
  return {
    ...(caller?.orgId === undefined ? {} : { org_id: caller.orgId }),
    ...(caller?.workspaceId === undefined ? {} : { workspace_id: caller.workspaceId }),
  };
}
