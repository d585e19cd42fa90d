import type { Next } from 'koa';
import type { AuditEvent, Clock } from '../../actors/ports.ts';
import { SystemError } from '../../actors/system.ts';
import type { AdmissionVerdict } from '../../machines/admission/admission-answer.ts';
import type { RoutedContext } from '../request-state.ts';
import {
  denialEvent,
  denialProblem,
  type Invocation,
  type InvocationReader,
} from '../wire/admission-json.ts';
import type { Sequenced } from './count-sequence.ts';

/** What asking for admission needs. */
export interface AdmitPorts {
  /** `null` lets every invocation pass. */
  admission: { check(): Promise<AdmissionVerdict> } | null;
  /** Writes an event to the audit log; resolves once it is on disk. */
  record: (event: AuditEvent) => Promise<void>;
  /** Who the events are about; a tenancy that is absent here is the caller's. */
  entity: Pick<AuditEvent, 'entity_id' | 'entity_type' | 'org_id' | 'workspace_id'>;
  clock: Clock;
}

/**
 * Lets an invocation start only when the platform admits it, and refuses it with 402 once the denial is
 * in the audit log (document 1 section 6, contract section 9). Stands after the body has been read,
 * since the body tells what would start; whatever starts nothing passes.
 */
export function admit(ports: AdmitPorts, read: InvocationReader) {
  return async function admission(ctx: RoutedContext, next: Next) {
    const invocation = ports.admission === null ? null : read(ctx.request.body);
    if (ports.admission === null || invocation === null) return void (await next());
    const verdict = await ports.admission.check();
    if (verdict.decision === 'deny') {
      await record(ports, denialEvent(verdict, envelopeOf(ports, ctx, invocation)));
      throw denialProblem(verdict, ports.clock.now());
    }
    await next();
  };
}

function envelopeOf(
  { entity, clock }: AdmitPorts,
  { state }: RoutedContext,
  { taskId }: Invocation,
): Omit<AuditEvent, 'event' | 'fields'> {
  const { caller, correlationId, nextSequence, tags } = state as typeof state & Sequenced;
  const orgId = entity.org_id ?? caller?.orgId;
  const workspaceId = entity.workspace_id ?? caller?.workspaceId;
  return {
    ...tags,
    ...entity,
    ts: new Date(clock.now()).toISOString(),
    seq: nextSequence(),
    correlation_id: correlationId,
    ...(taskId === null ? {} : { task_id: taskId }),
    ...(orgId === undefined ? {} : { org_id: orgId }),
    ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }),
  };
}

async function record(ports: AdmitPorts, event: AuditEvent): Promise<void> {
  try {
    await ports.record(event);
  } catch (cause) {
    const text = 'the service cannot record that the request is refused; try again later';
    throw new SystemError('unrecorded', text, { cause });
  }
}
