import type { Next } from 'koa';
import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import { SystemError } from '../../actors/system-error.ts';
import type { AdmissionVerdict } from '../../machines/admission/admission-answer.ts';
import type { RoutedContext } from '../request-state.ts';
import { denialEvent, denialProblem, type InvocationReader } from '../wire/admission.ts';
import { type EnvelopePorts, requestEnvelope } from '../wire/request-envelope.ts';

export interface AdmitPorts extends EnvelopePorts {
  /** `null` admits every invocation. */
  admission: { check(): Promise<AdmissionVerdict> } | null;
  /** Writes an event to the audit log; resolves once it is on disk. */
  record: (event: AuditEvent) => Promise<void>;
  clock: Clock;
}

/**
 * Rejects an invocation that the platform denies, with 402 once the denial is in the audit log
 * (docs/contract/admission.md). Runs after the body is read, because the body determines the invocation. Other requests
 * pass.
 */
export function admit(ports: AdmitPorts, read: InvocationReader) {
  return async function admission(ctx: RoutedContext, next: Next) {
    const invocation = ports.admission === null ? null : read(ctx.request.body);
    if (ports.admission === null || invocation === null) return void (await next());
    const verdict = await ports.admission.check();
    if (verdict.decision === 'deny') {
      const { taskId } = invocation;
      const envelope = {
        ...requestEnvelope(ports, ctx.state, ctx.state.caller),
        ...(taskId === null ? {} : { task_id: taskId }),
      };
      await record(ports, denialEvent(verdict, envelope));
      throw denialProblem(verdict, ports.clock.now());
    }
    await next();
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
