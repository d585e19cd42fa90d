import { configuredVerifiers } from '../../../../src/actors/access/auth/configured-verifiers.ts';
import type { TokenVerdict } from '../../../../src/actors/access/auth/token-verifier.ts';
import { authSchema } from '../../../../src/actors/config/schema-auth.ts';
import type { Credentials } from '../../../../src/actors/ports/authentication.ts';
import type { Outbound } from '../../../../src/actors/ports/egress.ts';

/** A line of the daemon's log. */
export interface LogLine {
  level: string;
  fields: object;
  message: string;
}

/** A provider under test. */
export interface Verifying {
  /** Judges a bearer token, for an organisation that the request names. */
  verify(token: string, orgId?: string): Promise<TokenVerdict | null>;
  /** Judges all that a request shows. */
  verdictOn(credentials: Credentials): Promise<TokenVerdict | null>;
  log: LogLine[];
}

/** A request that shows a bearer token and nothing else. */
export function shown(bearer: string | null, orgId: string | null = null): Credentials {
  return { bearer, iapAssertion: null, orgId };
}

/** A provider named `staff` with these settings, and what it logs; it asks directly without egress. */
export function providing(
  type: string,
  settings: object,
  outbound?: Outbound,
  bindsApprover = false,
): Verifying {
  const log: LogLine[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void log.push({ level, fields, message });
  const { providers } = authSchema.parse({ providers: [{ type, name: 'staff', settings }] });
  const making = configuredVerifiers(providers, {
    env: {},
    log: { info: at('info'), warn: at('warn'), error: at('error') },
    bindsApprover,
    ...(outbound === undefined ? {} : { outbound }),
  });
  const verdictOn = async (credentials: Credentials) => {
    const [verifier] = await making;
    if (verifier === undefined) throw new Error('no provider');
    return verifier.verify(credentials);
  };
  return { verify: (token, orgId) => verdictOn(shown(token, orgId)), verdictOn, log };
}

/** An OpenID Connect provider with these settings, the audience `agent` unless they say otherwise. */
export function verifying(settings: { issuer: string; [key: string]: unknown }): Verifying {
  return providing('oidc', { audience: 'agent', ...settings });
}
