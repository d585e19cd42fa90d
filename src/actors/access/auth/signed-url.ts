/** Rules for a `service-cloud-v1` token (docs/contract/authentication.md). */
export interface SignedUrlRules {
  region: string;
  /** Required value of the signed header `x-service-audience`; `null` if the header must not be signed. */
  audience: string | null;
  /** Maximum lifetime of a token, in milliseconds. */
  longest: number;
  /** The operator's own token service, whose origin replaces the region's; `null` for none. */
  otherOrigin: string | null;
}

/** A pre-signed request, rebuilt from its validated parts; the original URL is never used. */
export interface SignedQuestion {
  /** The signed host. */
  host: string;
  /** Query string, starting with `?`. */
  query: string;
}

/** Prefix of every such token. */
export const tokenPrefix = 'service-cloud-v1.';

/** Allowed clock skew, in milliseconds. */
const skew = 30_000;

const longestToken = 16_384;

/** Returns the only host of a region for which such a token may be signed. */
export function tokenServiceHost(region: string): string {
  return `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

/** The token is not a valid pre-signed request. The message names the fault and contains nothing of the token. */
export class SignedUrlError extends Error {
  readonly code = 'signed_url_invalid';
}

/**
 * Parses a token. Throws SignedUrlError unless the token is the pre-signed URL of GetCallerIdentity at the region's
 * token service, in exactly the form that signers write, signed for this audience and valid now. Nothing else of the
 * URL is retained.
 */
export function readSignedUrl(token: string, rules: SignedUrlRules, now: number): SignedQuestion {
  const url = urlIn(token.length > longestToken ? '' : token.slice(tokenPrefix.length));
  const host = tokenServiceHost(rules.region);
  if (![`https://${host}`, rules.otherOrigin].includes(url.origin)) {
    throw new SignedUrlError(`its URL is not for https://${host}`);
  }
  const parameters = parametersOf(url);
  checkScope(parameters, rules);
  checkTime(parameters, rules, now);
  checkSignedHeaders(parameters, rules);
  return { host: url.host, query: queryOf(parameters) };
}

/** Accepts only a URL that every parser reads alike: no white space, user info, fragment or path. */
function urlIn(encoded: string): URL {
  const isEncoded = /^[A-Za-z0-9_-]+$/.test(encoded);
  const text = isEncoded ? Buffer.from(encoded, 'base64url').toString('latin1') : '';
  const url = URL.parse(text);
  if (url === null) {
    throw new SignedUrlError(
      `what follows ${tokenPrefix} is not a URL in base64url without padding`,
    );
  }
  const isPlain = /^[A-Za-z0-9:/?&=%._~;-]+$/.test(text) && text.startsWith(`${url.origin}/?`);
  if (isPlain) return url;
  throw new SignedUrlError(
    'its URL has more than https://, the host, / and a query, or is not spelt plainly',
  );
}

/** The parameters that a signer writes, with the pattern of their values. */
const patterns: Readonly<Record<string, RegExp>> = {
  Action: /^GetCallerIdentity$/,
  Version: /^2011-06-15$/,
  'X-Amz-Algorithm': /^AWS4-HMAC-SHA256$/,
  'X-Amz-Credential': /^[A-Z0-9]{16,128}\/\d{8}\/[a-z0-9-]+\/sts\/aws4_request$/,
  'X-Amz-Date': /^\d{8}T\d{6}Z$/,
  'X-Amz-Expires': /^[1-9]\d{0,5}$/,
  'X-Amz-Security-Token': /^[A-Za-z0-9+/=]{1,12288}$/,
  'X-Amz-SignedHeaders': /^[a-z0-9;-]+$/,
  'X-Amz-Signature': /^[0-9a-f]{64}$/,
};

/** Absent when the signer uses long-term keys. */
const optional = 'X-Amz-Security-Token';

/** Returns every parameter. Throws SignedUrlError when one is missing, unknown, repeated or malformed. */
function parametersOf(url: URL): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [key, value] of url.searchParams) {
    if (!Object.hasOwn(patterns, key)) {
      throw new SignedUrlError('its URL has a parameter that GetCallerIdentity does not have');
    }
    if (Object.hasOwn(found, key)) throw new SignedUrlError(`its URL has ${key} more than once`);
    if (patterns[key]?.test(value) !== true) {
      throw new SignedUrlError(`${key} in its URL is not the value a signer writes`);
    }
    found[key] = value;
  }
  for (const key of Object.keys(patterns)) {
    if (key !== optional && !Object.hasOwn(found, key)) {
      throw new SignedUrlError(`its URL has no ${key}`);
    }
  }
  return found;
}

function checkScope(
  { 'X-Amz-Date': date = '', 'X-Amz-Credential': credential = '' }: Record<string, string>,
  { region }: SignedUrlRules,
): void {
  const [day, signedRegion] = credential.split('/').slice(1, 3);
  if (signedRegion !== region)
    throw new SignedUrlError(`it is not signed for the region ${region}`);
  if (day !== date.slice(0, 8)) {
    throw new SignedUrlError('X-Amz-Credential and X-Amz-Date in its URL are of different days');
  }
}

function checkTime(
  { 'X-Amz-Date': date = '', 'X-Amz-Expires': expires }: Record<string, string>,
  { longest }: SignedUrlRules,
  now: number,
): void {
  const lifetime = Number(expires) * 1_000;
  const signedAt = timeOf(date);
  if (!(lifetime <= longest)) {
    throw new SignedUrlError(`X-Amz-Expires in its URL is above ${longest / 1_000}`);
  }
  if (Number.isNaN(signedAt)) throw new SignedUrlError('X-Amz-Date in its URL is not a valid date');
  if (!(signedAt <= now + skew))
    throw new SignedUrlError('it is signed for a later time; check the clocks');
  if (!(now < signedAt + lifetime)) throw new SignedUrlError('it has expired');
}

/** The error does not repeat the expected audience; the signer must know it. */
function checkSignedHeaders(
  { 'X-Amz-SignedHeaders': signed }: Record<string, string>,
  { audience }: SignedUrlRules,
): void {
  const wanted = audience === null ? 'host' : 'host;x-service-audience';
  if (signed === wanted) return;
  throw new SignedUrlError(
    audience === null
      ? 'it must sign the header Host and no other (X-Amz-SignedHeaders=host)'
      : 'it must sign the headers Host and X-Service-Audience (X-Amz-SignedHeaders=host;x-service-audience)',
  );
}

/** Parses `20261121T124500Z`; returns NaN for an impossible date. */
function timeOf(date: string): number {
  return Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
}

function queryOf(parameters: Record<string, string>): string {
  const pairs = Object.entries(parameters).map(
    ([key, value]) => `${key}=${encodeURIComponent(value)}`,
  );
  return `?${pairs.join('&')}`;
}
