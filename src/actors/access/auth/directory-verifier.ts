import type { JWK, JWTPayload } from 'jose';
import type { SecurityScheme } from '../../../machines/card/agent-card.ts';
import type { Caller } from '../../../machines/domain/task.ts';
import type { CallerReads } from '../../../machines/governance/caller-reads.ts';
import { isEmailShaped } from '../../../machines/governance/email.ts';
import type { ServiceConfig } from '../../config/config.ts';
import { callerOfClaims, usualClaims } from './caller-of-claims.ts';
import { loadJwt } from './load-jwt.ts';
import {
  refusal,
  type TokenVerdict,
  type TokenVerifier,
  type VerifierPorts,
} from './token-verifier.ts';

type DirectoryProvider = Extract<
  ServiceConfig['auth']['providers'][number],
  { type: 'directory_ad' }
>;
type Settings = DirectoryProvider['settings'];

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];

/** Allowed clock skew, in milliseconds. */
const skew = 30_000;

/**
 * Verifies the tokens of a directory: one tenant, or several tenants that share the directory's keys
 * (docs/contract/authentication.md). A token names its tenant twice, as issuer and as `tid`, and both must match.
 */
export async function directoryVerifier(
  { name, settings, groups_claim: groupsClaim }: DirectoryProvider,
  ports: VerifierPorts,
): Promise<TokenVerifier> {
  const { IssuerKeys, issuerOf, verifyJwt } = await loadJwt();
  const { authority, audience, jwks_cache_ttl: maximumAge, max_token_lifetime: longest } = settings;
  const url = directoryKeysUrl(settings);
  const keys = new IssuerKeys({ name, issuer: authority, url, maximumAge, ...ports });
  return {
    tokenKind: 'jwt',
    async verify({ bearer }) {
      const issuer = bearer === null ? null : issuerOf(bearer);
      const tenant = issuer === null ? null : tenantOf(issuer, authority);
      if (bearer === null || issuer === null || tenant === null) return null;
      if (!settings.allow_multi_tenant && tenant !== settings.tenant_id) return null;
      const read = (claims: JWTPayload, keyId: string | undefined) =>
        isKeyOf(keys.published(keyId), tenant)
          ? readClaims(claims, tenant, {
              ...{ name, settings, groupsClaim, reads: ports.reads() },
              bindsApprover: ports.bindsApprover,
            })
          : refusal('invalid', 'the token is not signed by its issuer; sign in again');
      return verifyJwt(bearer, { name, keys, algorithms, issuer, audience, skew, longest, read });
    },
  };
}

/** Returns the URL of the directory's key set. */
export function directoryKeysUrl({ authority, tenant_id, allow_multi_tenant }: Settings): string {
  return `${authority}/${allow_multi_tenant ? 'common' : tenant_id}/discovery/v2.0/keys`;
}

/** Returns the card's scheme for a directory: the discovery document of its tenant. */
export function directoryScheme({
  authority,
  tenant_id,
}: Pick<Settings, 'authority' | 'tenant_id'>): SecurityScheme {
  const openIdConnectUrl = `${authority}/${tenant_id}/v2.0/.well-known/openid-configuration`;
  return { type: 'openIdConnect', openIdConnectUrl };
}

/** Returns the tenant of an issuer URL (version 1 or 2); `null` for an issuer outside this directory. */
function tenantOf(issuer: string, authority: string): string | null {
  for (const [start, end] of [
    [`${authority}/`, '/v2.0'],
    ['https://sts.windows.net/', '/'],
  ] as const) {
    const tenant = issuer.slice(start.length, -end.length);
    if (issuer === `${start}${tenant}${end}` && /^[0-9A-Za-z-]+$/.test(tenant)) return tenant;
  }
  return null;
}

/** Tenants share most keys. A key that is published for a single tenant must not sign for other tenants. */
function isKeyOf(key: JWK | null, tenant: string): boolean {
  const { issuer } = (key ?? {}) as { issuer?: unknown };
  const owner = typeof issuer === 'string' ? /\/([0-9a-f-]{36})\/v2\.0$/.exec(issuer)?.[1] : null;
  return owner === null || owner === undefined || owner === tenant;
}

/** Rules for reading the claims of a directory token. */
interface DirectoryRules extends Pick<VerifierPorts, 'bindsApprover'> {
  name: string;
  settings: Settings;
  groupsClaim: string | undefined;
  reads: CallerReads;
}

function readClaims(claims: JWTPayload, tenant: string, rules: DirectoryRules): TokenVerdict {
  if (claims['tid'] !== tenant) {
    return refusal('invalid', 'the token lacks a valid claim tid; sign in again');
  }
  const { allow_multi_tenant: isMulti, allowed_tenants: allowed } = rules.settings;
  if (isMulti && allowed.length > 0 && !allowed.includes(tenant)) {
    return refusal('rejected', 'the tenant of the token may not sign in here');
  }
  const caller = callerOfDirectory(claims, rules, !isMulti || allowed.length > 0);
  if (caller !== null) return { kind: 'verified', caller };
  return refusal('rejected', 'the token has no user in its claims oid and sub');
}

/**
 * A tenant can write any address into its users' `email` claim. An email from a tenant that the operator has not named
 * counts only if the directory vouches for its domain. Where emails must be verified (`require_email_verified`, which
 * defaults to `bindsApprover`), this applies to every tenant. A sign-in name (`preferred_username`) may look like an
 * email, but is never used where emails decide.
 */
function callerOfDirectory(
  claims: JWTPayload,
  { name, settings, bindsApprover, groupsClaim, reads }: DirectoryRules,
  isKnown: boolean,
): Caller | null {
  const isTrusted = isKnown && !(settings.require_email_verified ?? bindsApprover);
  const isVouchedFor = ['1', 'true'].includes(String(claims['xms_edov']));
  const map = {
    ...usualClaims,
    user_id: typeof claims['oid'] === 'string' && claims['oid'] !== '' ? 'oid' : 'sub',
    org_id: 'tid',
  };
  const caller = callerOfClaims(name, claims, map, { groupsClaim, reads });
  if (caller === null) return null;
  const { email, ...unaddressed } = caller;
  if (email !== undefined && (isTrusted || isVouchedFor)) return caller;
  const preferred = claims['preferred_username'];
  const isAddress = typeof preferred === 'string' && isEmailShaped(preferred);
  if (!isTrusted || bindsApprover || !isAddress) return unaddressed;
  return { ...unaddressed, email: preferred };
}
