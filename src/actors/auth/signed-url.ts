/** What a `service-cloud-v1` token must look like (contract section 8). */
export interface SignedUrlRules {
  region: string;
  /** What the signed header `x-service-audience` says; `null` when none is signed. */
  audience: string | null;
  /** How long a token may count at most, in milliseconds. */
  longest: number;
  /** A host of the operator's that tokens may be signed for instead of the region's; `null` for none. */
  otherOrigin: string | null;
}

/** A question that its asker has signed: what it is put together from, never the URL as it came. */
export interface SignedQuestion {
  /** The host that the signature covers. */
  host: string;
  /** Starts with `?`. */
  query: string;
}

/** What every such token starts with. */
export const tokenPrefix = 'service-cloud-v1.';

/** How far the clocks may differ, in milliseconds. */
const skew = 30_000;

const longestToken = 16_384;

/** Names the one host of a region that such a token may be for. */
export function tokenServiceHost(region: string): string {
  return `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

/**
 * Takes a token apart. Returns `null` unless it is the pre-signed URL of GetCallerIdentity at the
 * region's token service, in exactly the form that signers write, signed for this audience and
 * valid now; nothing else of the URL is kept.
 */
export function readSignedUrl(
  token: string,
  rules: SignedUrlRules,
  now: number,
): SignedQuestion | null {
  if (!token.startsWith(tokenPrefix) || token.length > longestToken) return null;
  const url = urlIn(token.slice(tokenPrefix.length));
  const origins = [`https://${tokenServiceHost(rules.region)}`, rules.otherOrigin];
  if (url === null || !origins.includes(url.origin)) return null;
  const parameters = parametersOf(url);
  if (parameters === null || !isInForce(parameters, rules, now)) return null;
  if (parameters['X-Amz-SignedHeaders'] !== signedHeaders(rules.audience)) return null;
  return { host: url.host, query: queryOf(parameters) };
}

/** Only a URL that reads the same to everybody: no white space, user, fragment or path. */
function urlIn(encoded: string): URL | null {
  if (!/^[A-Za-z0-9_-]+$/.test(encoded)) return null;
  const text = Buffer.from(encoded, 'base64url').toString('latin1');
  const url = URL.parse(text);
  if (url === null || !text.startsWith(`${url.origin}/?`)) return null;
  return /^[A-Za-z0-9:/?&=%._~;-]+$/.test(text) ? url : null;
}

/** Each parameter that a signer writes, and what it may hold. */
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

/** A signer with lasting keys has no session token. */
const optional = 'X-Amz-Security-Token';

/** Returns every parameter; `null` when one is missing, unknown, repeated or malformed. */
function parametersOf(url: URL): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const [key, value] of url.searchParams) {
    if (!Object.hasOwn(patterns, key) || Object.hasOwn(found, key)) return null;
    if (patterns[key]?.test(value) !== true) return null;
    found[key] = value;
  }
  const isWhole = Object.keys(patterns).every(
    (key) => key === optional || Object.hasOwn(found, key),
  );
  return isWhole ? found : null;
}

function isInForce(
  parameters: Record<string, string>,
  { region, longest }: SignedUrlRules,
  now: number,
): boolean {
  const { 'X-Amz-Date': date = '', 'X-Amz-Credential': credential = '' } = parameters;
  const scope = credential.split('/').slice(1, 3);
  if (scope[0] !== date.slice(0, 8) || scope[1] !== region) return false;
  const lifetime = Number(parameters['X-Amz-Expires']) * 1_000;
  const signedAt = timeOf(date);
  return lifetime <= longest && signedAt <= now + skew && now < signedAt + lifetime;
}

/** Reads `20261121T124500Z`; NaN, which compares with nothing, for a day that there is not. */
function timeOf(date: string): number {
  return Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
}

function signedHeaders(audience: string | null): string {
  return audience === null ? 'host' : 'host;x-service-audience';
}

function queryOf(parameters: Record<string, string>): string {
  const pairs = Object.entries(parameters).map(
    ([key, value]) => `${key}=${encodeURIComponent(value)}`,
  );
  return `?${pairs.join('&')}`;
}
