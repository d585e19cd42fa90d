import { expect, it } from 'vitest';
import { describeStsFailure } from '../../../../src/actors/governance/credentials/credential-issuer.ts';
import { CredentialError } from '../../../../src/actors/governance/credentials/credentials.ts';

const unreached = 'the token service could not be reached; check region and endpoint';
const failed = 'the token service failed; try again later';
const unreadable = 'the answer of the token service could not be read; check endpoint';
const refused = (status: number) => `the token service refused the request (HTTP ${status})`;

it.each<[unknown, string, number | null]>([
  [new CredentialError('the task was stopped'), 'the task was stopped', null],
  [undefined, unreached, null],
  [null, unreached, null],
  [new TypeError('fetch failed'), unreached, null],
  [{ $metadata: { httpStatusCode: 200 } }, unreadable, 200],
  [{ $metadata: { httpStatusCode: 299 } }, unreadable, 299],
  [{ $metadata: { httpStatusCode: 300 } }, refused(300), 300],
  [{ $metadata: { httpStatusCode: 499 } }, refused(499), 499],
  [{ $metadata: { httpStatusCode: 500 } }, failed, 500],
  [{ $metadata: {}, $response: { statusCode: 502 } }, failed, 502],
  [{ $response: { statusCode: 404 } }, refused(404), 404],
  [{ $metadata: { httpStatusCode: 400 }, $response: { statusCode: 502 } }, refused(400), 400],
  [
    { name: 'Throttling', $metadata: { httpStatusCode: 400 } },
    'the token service is asked too often; try again later',
    400,
  ],
  [
    { name: 'ExpiredTokenException' },
    'the identity that assumes the role has expired; renew it',
    null,
  ],
  [{ name: 'ExpiredExceptionToken' }, unreached, null],
])('the failure %j is replaced by our own text', (error, reason, status) => {
  expect(describeStsFailure(error)).toEqual({ reason, status });
});
