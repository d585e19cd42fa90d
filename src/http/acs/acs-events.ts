import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import type { JsonObject } from '../../machines/json.ts';
import type { RequestState } from '../request-state.ts';
import { type AcsError, type AcsRequest, acsCodes } from '../wire/acs.ts';
import { type EnvelopePorts, requestEnvelope } from '../wire/request-envelope.ts';
import type { ChainEntry } from './acs-chain.ts';
import type { SessionKey } from './acs-signature.ts';

/** Returns the event of a session that was negotiated. */
export function handshakeEvent(
  ports: EnvelopePorts,
  state: RequestState,
  { params: { metadata } }: AcsRequest,
  { methods_evaluated: methods }: JsonObject,
): AuditEvent {
  const { session_id: session, agent_id: agent } = metadata;
  return {
    ...requestEnvelope(ports, state, state.caller),
    event: 'acs_handshake',
    fields: { session, agent, key_id: state.caller?.userId, methods },
  };
}

/** Returns the event of a step that extended the chain of its session. */
export function stepEvent(
  ports: EnvelopePorts,
  state: RequestState,
  { params: { metadata } }: AcsRequest,
  { entry, previous, hash }: { entry: ChainEntry; previous: string | null; hash: string },
): AuditEvent {
  const { session_id: session, agent_id: agent } = metadata;
  return {
    ...requestEnvelope(ports, state, state.caller),
    event: 'acs_step',
    fields: { session, agent, ...entry, previous_hash: previous, entry_hash: hash },
  };
}

/** Returns the event of a request that was answered with an error. Only a signed request has `key`. */
export function refusalEvent(
  ports: EnvelopePorts,
  state: RequestState,
  refusal: AcsError,
  { key, session }: { key: SessionKey | null; session: string | null },
): AuditEvent {
  const [code, reason] = acsCodes[refusal.code];
  return {
    ...requestEnvelope(ports, state, state.caller),
    event: 'acs_refused',
    fields: {
      ...{ code, reason, remote_addr: state.clientAddress },
      ...(key === null ? {} : { key_id: key.keyId }),
      ...(session === null ? {} : { session }),
    },
  };
}
