import type { Caller } from '../../../machines/domain/task.ts';
import type { CallerReads } from '../../../machines/governance/caller-reads.ts';
import type {
  AuthFailure,
  Credentials,
  TokenKind,
  TokenPlace,
} from '../../ports/authentication.ts';
import type { Outbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';

/** The verdict of a provider on a credential that it recognises. */
export type TokenVerdict =
  | { kind: 'verified'; caller: Caller; opens?: TokenPlace }
  | { kind: 'rejected'; reason: AuthFailure; message: string };

export interface VerifierPorts {
  log: Log;
  /** Egress for the provider's requests; direct when absent. */
  outbound?: Outbound;
  /** Path of the provider in `service.yaml`, such as `auth.providers.0`. */
  place: string;
  /** Returns what rules read of callers. */
  reads: () => CallerReads;
  /** Identifier of the MCP endpoint, for which tokens are made too; absent or `null` for none. */
  resource?: string | null;
  /** True if `bind_approver` requires the approver's verified email. */
  bindsApprover: boolean;
}

/** One provider of the authentication chain. */
export interface TokenVerifier {
  /** The kind of credential it verifies. */
  readonly tokenKind: TokenKind;
  /** Verifies the credentials of a request; `null` if this provider recognises none of them. Never rejects. */
  verify(credentials: Credentials): Promise<TokenVerdict | null>;
}

/** Creates the refusal of a credential; the message is shown to the caller and contains nothing of the credential. */
export function refusal(reason: AuthFailure, message: string): TokenVerdict {
  return { kind: 'rejected', reason, message };
}
