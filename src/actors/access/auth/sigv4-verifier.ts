import { LRUCache } from 'lru-cache';
import type { SecurityScheme } from '../../../machines/card/agent-card.ts';
import type { ServiceConfig } from '../../config/config.ts';
import type { Outbound } from '../../ports/egress.ts';
import { type CallerIdentity, readCallerIdentity } from './caller-identity.ts';
import { exchange } from './exchange.ts';
import { OutageLog } from './outage-log.ts';
import { ProviderUnavailableError } from './provider-unavailable.ts';
import {
  readSignedUrl,
  type SignedQuestion,
  SignedUrlError,
  type SignedUrlRules,
  tokenPrefix,
  tokenServiceHost,
} from './signed-url.ts';
import { fingerprintOf, SingleFlight } from './single-flight.ts';
import {
  refusal,
  type TokenVerdict,
  type TokenVerifier,
  type VerifierPorts,
} from './token-verifier.ts';

type Sigv4Provider = Extract<ServiceConfig['auth']['providers'][number], { type: 'cloud_sigv4' }>;
type Settings = Sigv4Provider['settings'];

/** Returns the card's scheme for pre-signed identity requests: a bearer token with its own format. */
export function sigv4Scheme(): SecurityScheme {
  return { type: 'http', scheme: 'bearer', bearerFormat: tokenPrefix.replace(/\.$/, '') };
}

/** Timeout of the token service, in milliseconds. */
const timeout = 10_000;

/** Maximum number of cached identities. */
const mostRemembered = 1_000;

/** Maximum concurrent requests to the token service. */
const mostQuestions = 256;

/**
 * Verifies tokens that contain a pre-signed identity request to a cloud's token service
 * (docs/contract/authentication.md). The request is parsed and rebuilt, so only the region's token service is ever
 * contacted. The identity is cached for `identity_cache_ttl`, but never beyond the token's expiry.
 */
export function sigv4Verifier(
  { name, settings }: Sigv4Provider,
  { log, outbound }: VerifierPorts,
): TokenVerifier {
  const outages = new OutageLog(name, log);
  const known = new LRUCache<string, CallerIdentity>({ max: mostRemembered, ttl: 1 });
  const flights = new SingleFlight<TokenVerdict>(mostQuestions);
  const { identity_cache_ttl: ttl } = settings;
  const rules = rulesOf(settings);
  const verifySigned = async (question: SignedQuestion, key: string): Promise<TokenVerdict> => {
    try {
      if (flights.isFull) throw new ProviderUnavailableError('too many tokens are being verified');
      const identity = await ask(question, settings, outbound);
      if (identity === null) return refusal('invalid', unsigned);
      // In this cache a time to live of 0 means no expiry.
      if (ttl > 0) known.set(key, identity, { ttl });
      return admit(name, identity, settings);
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      outages.note(error);
      return refusal(
        'provider_unavailable',
        `the token service of ${name} cannot be asked; try again later`,
      );
    }
  };
  return {
    tokenKind: 'sigv4',
    async verify({ bearer }) {
      if (bearer?.startsWith(tokenPrefix) !== true) return null;
      const question = questionIn(bearer, rules);
      if (typeof question === 'string') return refusal('invalid', question);
      const key = fingerprintOf(bearer);
      const identity = known.get(key);
      if (identity !== undefined) return admit(name, identity, settings);
      return flights.ask(key, () => verifySigned(question, key));
    },
  };
}

function rulesOf({ region, audience, max_token_expires, sts_url }: Settings): SignedUrlRules {
  return {
    region,
    audience: audience ?? null,
    longest: max_token_expires,
    otherOrigin: sts_url === undefined ? null : new URL(sts_url).origin,
  };
}

const unsigned = 'the token service does not accept the signature; sign a new token';

/** Parses the pre-signed request of a token, or returns the reason why it is invalid. */
function questionIn(token: string, rules: SignedUrlRules): SignedQuestion | string {
  try {
    return readSignedUrl(token, rules, Date.now());
  } catch (error) {
    if (!(error instanceof SignedUrlError)) throw error;
    return `the token is no GetCallerIdentity URL that counts here: ${error.message}; sign a new one`;
  }
}

/** Resolves with `null` when the token service refuses the signature. */
async function ask(
  { host, query }: SignedQuestion,
  { sts_url: endpoint, audience, region }: Settings,
  outbound: Outbound | undefined,
): Promise<CallerIdentity | null> {
  const url = new URL('/', endpoint ?? `https://${tokenServiceHost(region)}`);
  url.search = query;
  const { status, text } = await exchange({
    url,
    method: 'GET',
    // The signature covers the original host, even when another host relays the request.
    headers: {
      Accept: 'application/json',
      Host: host,
      ...(audience === undefined ? {} : { 'X-Service-Audience': audience }),
    },
    timeout,
    dispatcher: outbound?.dispatcher,
  });
  if (status === 400 || status === 401 || status === 403) return null;
  if (status !== 200) {
    throw new ProviderUnavailableError(`the provider answered ${status}; it must answer 200`);
  }
  const identity = readCallerIdentity(text);
  if (identity === null)
    throw new ProviderUnavailableError('the provider returned no usable identity');
  return identity;
}

function admit(name: string, { arn, account }: CallerIdentity, settings: Settings): TokenVerdict {
  const { allowed_accounts: accounts, allowed_principals: principals } = settings;
  if (accounts.length > 0 && !accounts.includes(account)) {
    return refusal('rejected', 'the account of the signer may not sign in here');
  }
  if (principals.length > 0 && !principals.some((pattern) => matchesPrincipal(arn, pattern))) {
    return refusal('rejected', 'the signer may not sign in here');
  }
  return { kind: 'verified', caller: { provider: name, userId: arn, orgId: account } };
}

/**
 * Returns whether a principal's ARN matches a pattern. `*` matches any text without a colon, so no path or session name
 * can pass for another part of the ARN.
 */
export function matchesPrincipal(arn: string, pattern: string): boolean {
  const parts = arn.split(':');
  const expected = pattern.split(':');
  return (
    parts.length === expected.length &&
    expected.every((part, index) => matchesPart(parts[index] ?? '', part))
  );
}

/** Matches each piece between stars at its leftmost position, so no backtracking is needed. */
function matchesPart(text: string, pattern: string): boolean {
  const [start = '', ...pieces] = pattern.split('*');
  const end = pieces.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start)) return false;
  let position = start.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  return text.length - end.length >= position && text.endsWith(end);
}
