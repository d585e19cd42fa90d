import { isSpanContextValid, type Span } from '@opentelemetry/api';
import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Caller } from '../../machines/domain/task.ts';
import type { RequestState } from '../request-state.ts';

/** The subject of an agent's events, with its clock. */
export interface EnvelopePorts {
  /** The default subject of events. A tenancy named by the request, or the caller's identity, overrides it. */
  entity: Pick<AuditEvent, 'entity_id' | 'entity_type' | 'org_id' | 'workspace_id'>;
  clock: Pick<Clock, 'now'>;
}

/** Returns the common fields of an event that a request causes before its task exists (docs/contract/audit.md). */
export function requestEnvelope(
  { entity, clock }: EnvelopePorts,
  { tags, correlationId, nextSequence, span }: RequestState,
  caller: Caller | null,
): Omit<AuditEvent, 'event' | 'fields'> {
  return {
    ...entity,
    ...tags,
    ...tenancyOf(caller),
    ...traceIdsOf(span),
    ts: new Date(clock.now()).toISOString(),
    seq: nextSequence(),
    correlation_id: correlationId,
  };
}

/** Returns a request's trace and span IDs; empty without a trace. */
function traceIdsOf(span: Span): { trace_id?: string; span_id?: string } {
  const at = span.spanContext();
  return isSpanContextValid(at) ? { trace_id: at.traceId, span_id: at.spanId } : {};
}

/** Returns the tenant of an authenticated identity, which takes precedence over a tenant named in a header. */
export function tenancyOf(caller: Caller | null): { org_id?: string; workspace_id?: string } {
  return {
    ...(caller?.orgId === undefined ? {} : { org_id: caller.orgId }),
    ...(caller?.workspaceId === undefined ? {} : { workspace_id: caller.workspaceId }),
  };
}
