/** The region that test tokens are for. */
export const region = 'eu-central-1';

/** Where a pre-signed question is for, and what it says. */
export interface Signing {
  origin?: string;
  /** Overrides parameters; `undefined` leaves one out. */
  parameters?: Record<string, string | undefined>;
  /** Put behind the query as it is. */
  tail?: string;
}

/** The parameters of a question that was signed now. */
export function signedParameters(now: number = Date.now()): Record<string, string> {
  const date = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  return {
    Action: 'GetCallerIdentity',
    Version: '2011-06-15',
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `AKIAIOSFODNN7EXAMPLE/${date.slice(0, 8)}/${region}/sts/aws4_request`,
    'X-Amz-Date': date,
    'X-Amz-Expires': '900',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': 'ca'.repeat(32),
  };
}

/** The URL of a question, in the form that signers write. */
export function signedUrl({ origin, parameters = {}, tail = '' }: Signing = {}): string {
  const merged = { ...signedParameters(), ...parameters };
  const query = Object.entries(merged)
    .filter((pair) => pair[1] !== undefined)
    .map(([key, value = '']) => `${key}=${encodeURIComponent(value)}`)
    .join('&');
  return `${origin ?? `https://sts.${region}.amazonaws.com`}/?${query}${tail}`;
}

/** A token that holds a URL. */
export function tokenOf(url: string): string {
  return `service-cloud-v1.${Buffer.from(url).toString('base64url')}`;
}
