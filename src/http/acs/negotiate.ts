import type { AcsSession } from '../../actors/ports/acs-sessions.ts';
import type { JsonObject } from '../../machines/json.ts';
import {
  AcsError,
  type AcsRequest,
  acsVersion,
  clientHello,
  isAcceptedVersion,
  readPayload,
} from '../wire/acs.ts';
import { evaluatedMethods } from './acs-methods.ts';
import { acsAlgorithm } from './acs-signature.ts';
import type { SessionPorts } from './change-session.ts';
import { checkSession, otherVersion } from './verify-request.ts';

export interface NegotiationPorts extends SessionPorts {
  /** Milliseconds that a client waits for an answer. */
  timeout: number;
  skew: number;
}

/**
 * Opens a session, or finds it with the same terms. Returns the ServerHello: the standard's result, and the same as
 * `payload` of a decision for clients of the first adapters. Throws AcsError.
 */
export async function negotiate(
  { sessions, clock, timeout, skew }: NegotiationPorts,
  request: AcsRequest,
  { keyId, isSecure }: { keyId: string; isSecure: boolean },
): Promise<JsonObject> {
  const { metadata, payload, request_id } = request.params;
  const hello = readPayload(clientHello, payload);
  if (!hello.acs_versions_supported.some(isAcceptedVersion)) throw otherVersion();
  const transport = ['https', 'http'].find(
    (one) => hello.transports_supported.includes(one) && (isSecure || one === 'http'),
  );
  if (transport === undefined) {
    throw new AcsError('sessionRefused', 'the client does not offer the transport that it uses');
  }
  const methods = evaluatedMethods(hello);
  const { session_id: id, agent_id: agentId } = metadata;
  const fresh = { agentId, keyId, methods, heads: [], entries: 0, isEnded: false, open: {} };
  await sessions.put(id, fresh, { version: 0, now: clock.now() });
  const session = (await sessions.find(id))?.session ?? fresh;
  checkSession(session, request, keyId);
  checkMethods(session, methods);
  const serverHello = {
    negotiated_version: acsVersion,
    methods_evaluated: methods,
    selected_transport: transport,
    signature_algorithms_supported: [acsAlgorithm],
    timeout_config: { default_ms: timeout },
    skew_window_ms: skew,
    on_decision_failure: 'deny',
    on_timeout: 'deny',
    approver_types_supported: ['human'],
    policy_requires_provenance: false,
    profiles_accepted: (hello.profiles_supported ?? []).filter((name) => name === 'acs-core'),
  };
  const decision = { type: 'final', acs_version: acsVersion, request_id, decision: 'allow' };
  return { ...serverHello, ...decision, payload: serverHello };
}

function checkMethods({ methods }: AcsSession, offered: readonly string[]): void {
  const added = offered.filter((method) => !methods.includes(method));
  if (added.length === 0) return;
  const message = 'the session was negotiated with other methods; start a new session';
  throw new AcsError('sessionRefused', message, { methods: added });
}
