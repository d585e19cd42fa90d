import { oidcVerifier } from '../../../src/actors/auth/oidc-verifier.ts';
import type { TokenVerifier } from '../../../src/actors/auth/token-verifier.ts';
import { authSchema } from '../../../src/actors/config/schema-auth.ts';

/** A line of the daemon's log. */
export interface LogLine {
  level: string;
  fields: object;
  message: string;
}

/** A verifier with these settings, the audience `agent` unless they say otherwise, and what it logs. */
export function verifying(settings: { issuer: string; [key: string]: unknown }): TokenVerifier & {
  log: LogLine[];
} {
  const provider = { type: 'oidc', name: 'staff', settings: { audience: 'agent', ...settings } };
  const [parsed] = authSchema.parse({ providers: [provider] }).providers;
  if (parsed?.type !== 'oidc') throw new Error('no oidc provider');
  const log: LogLine[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void log.push({ level, fields, message });
  const verifier = oidcVerifier(parsed, {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  });
  return { verify: (token) => verifier.verify(token), log };
}
