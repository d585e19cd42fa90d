import { z } from 'zod';
import { admissionDenied } from '../wire/admission.ts';
import { cancel } from '../wire/cancel-reason.ts';
import { decided, decision, decisionConflict } from '../wire/decision.ts';
import { decisionRecord } from '../wire/decision-record.ts';
import { deferral, deferralEvent, deferralPage, pendingDeferral } from '../wire/deferral.ts';
import { inspection } from '../wire/inspection.ts';
import { rpcAnswer, rpcRefusal } from '../wire/json-rpc.ts';
import { message } from '../wire/message.ts';
import { statusRefusal } from '../wire/present-refusal.ts';
import { refusal, unauthorized } from '../wire/problem.ts';
import { progress } from '../wire/progress.ts';
import { requester } from '../wire/requester.ts';
import { session, sessionBrief, sessionPage } from '../wire/session.ts';
import { task, taskPage } from '../wire/task.ts';
import { send } from '../wire/task-request.ts';
import { taskRow } from '../wire/task-row.ts';
import * as a2a from './a2a-schemas.ts';

export const health = z.object({ status: z.string() }).meta({ id: 'Health' });

export const auditKeys = z
  .object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) })
  .meta({ id: 'AuditKeys' });

/** The named schemas of request bodies. */
export const bodies = registryOf([send, decision, cancel, a2a.rpcRequest, a2a.wireMessage]);

/** The named schemas of response bodies and of the data of events. */
export const answers = registryOf([
  ...[task, taskPage, message, taskRow, progress, inspection],
  ...[deferral, deferralPage, deferralEvent, pendingDeferral, requester, decisionRecord],
  ...[session, sessionBrief, sessionPage, decided, decisionConflict],
  ...[refusal, unauthorized, admissionDenied, health, auditKeys],
  ...[rpcAnswer, rpcRefusal, statusRefusal, a2a.wireTask, a2a.sendAnswer, a2a.wireTasks],
  ...[a2a.pushConfig, a2a.pushConfigs, a2a.nothing, a2a.agentCard],
]);

/** Registers schemas by the ID in their metadata. Throws for a schema without one. */
function registryOf(schemas: readonly z.ZodType[]): z.core.$ZodRegistry<{ id: string }> {
  const registry = z.registry<{ id: string }>();
  for (const schema of schemas) {
    const id = schema.meta()?.id;
    if (id === undefined) throw new Error('a schema of the wire has no id');
    registry.add(schema, { id });
  }
  return registry;
}
