import type { Caller } from '../../../machines/task/task.ts';
import type { AuthFailure, Credentials, Log, Outbound, TokenKind } from '../../ports.ts';

/** What one provider says of a credential that is its own. */
export type TokenVerdict =
  | { kind: 'verified'; caller: Caller }
  | { kind: 'rejected'; reason: AuthFailure; message: string };

export interface VerifierPorts {
  log: Log;
  /** How it asks others; directly when absent. */
  outbound?: Outbound;
  /** Where it stands in `service.yaml`, such as `auth.providers.0`. */
  place: string;
  /** True when an email decides on calls (`bind_approver`), so that it has to be its owner's. */
  bindsApprover: boolean;
}

/** One provider of the authentication chain. */
export interface TokenVerifier {
  /** The kind of credential it verifies. */
  readonly tokenKind: TokenKind;
  /** Verifies what a request shows; `null` when none of it is this provider's. Never rejects. */
  verify(credentials: Credentials): Promise<TokenVerdict | null>;
}

/** Refuses a credential; the message is read by the caller and holds nothing of the credential. */
export function refusal(reason: AuthFailure, message: string): TokenVerdict {
  return { kind: 'rejected', reason, message };
}
