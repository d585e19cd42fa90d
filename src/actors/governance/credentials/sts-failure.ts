import { CredentialError } from './credential.ts';

/** A failed request to the token service; contains no text of the service. */
export interface StsFailure {
  /** Worded to follow `the credential for <tool> could not be issued: `. */
  reason: string;
  /** The HTTP status if there was a response. */
  status: number | null;
}

/** Meanings of the service's error codes, worded for the operator. */
const meanings = new Map([
  ['AccessDenied', 'the role may not be assumed; check its trust policy and external_id'],
  ['InvalidClientTokenId', 'the access key is unknown; check its variable'],
  ['SignatureDoesNotMatch', 'the secret key is wrong; check the variable that holds it'],
  ['ExpiredToken', 'the identity that assumes the role has expired; renew it'],
  ['MalformedPolicyDocument', 'policy is not a policy document; fix it'],
  ['PackedPolicyTooLarge', 'policy is too large; shorten it'],
  ['RegionDisabled', 'the region is not enabled for the account; enable it or set region'],
  ['ValidationError', 'a value was not accepted; check duration, and the limits of the role'],
  ['Throttling', 'the token service is asked too often; try again later'],
]);

/** Converts an error of the service's client to our own words. */
export function describeStsFailure(error: unknown): StsFailure {
  if (error instanceof CredentialError) return { reason: error.message, status: null };
  const { name = '', $metadata, $response } = (error ?? {}) as Thrown;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode ?? null;
  const meaning = meanings.get(name.replace(/Exception$/, ''));
  return { reason: meaning ?? withoutMeaning(status), status };
}

interface Thrown {
  name?: string;
  $metadata?: { httpStatusCode?: number };
  $response?: { statusCode?: number };
}

function withoutMeaning(status: number | null): string {
  if (status === null) return 'the token service could not be reached; check region and endpoint';
  if (status >= 500) return 'the token service failed; try again later';
  if (status >= 300) return `the token service refused the request (HTTP ${status})`;
  return 'the answer of the token service could not be read; check endpoint';
}
