import type { JsonObject } from '../../machines/json.ts';
import type { AdmitPorts } from '../middleware/admit.ts';
import type { RoutedContext } from '../request-state.ts';
import type { AcsDecision } from '../wire/acs.ts';
import { type AcsRequest, denial } from '../wire/acs.ts';
import { digestOf } from './acs-call.ts';
import { withEntry } from './acs-chain.ts';
import { stepEvent } from './acs-events.ts';
import { changeSession, type SessionPorts } from './change-session.ts';

export type StepPorts = SessionPorts & AdmitPorts;

/**
 * Appends a step to the chain of its session and to the log. Returns the new head, or a denial if the client names a
 * head that the chain does not have. Rejects with the error of the store.
 */
export async function recordStep(
  ports: StepPorts,
  ctx: RoutedContext,
  request: AcsRequest,
  body: JsonObject,
): Promise<string | AcsDecision> {
  const { method, params } = request;
  const { metadata, request_id, timestamp } = params;
  const { session_id, turn_id, session_state } = metadata;
  const { signature: _, ...content } = body['params'] as JsonObject;
  const step = {
    step_id: request_id,
    step_type: method,
    request_hash: digestOf(content),
    timestamp,
    ...(turn_id === undefined ? {} : { turn_id }),
  };
  const claimed = session_state?.chain_hash ?? null;
  const appended = await changeSession(ports, session_id, (session) => {
    if (claimed !== null && !session.heads.includes(claimed))
      return { session: null, result: null };
    const next = withEntry(session, step);
    const isEnded = method === 'steps/sessionEnd';
    return { session: { ...next.session, isEnded }, result: next };
  });
  if (appended === null) {
    const why = 'the chain_hash is no recent head of the chain of this session; stop the session';
    return denial(why, 'chain_mismatch');
  }
  await ports.record(stepEvent(ports, ctx.state, request, appended));
  return appended.hash;
}
