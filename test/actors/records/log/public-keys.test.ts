import { describe, expect, it } from 'vitest';
import { PublicKeyError, readPublicKeys } from '../../../../src/actors/records/log/audit.ts';
import { testKey } from './log-of.ts';

const one = testKey('one', 1).publicKey;
const two = testKey('two', 2).publicKey;

function refusal(value: unknown): string {
  try {
    readPublicKeys(typeof value === 'string' ? value : JSON.stringify(value));
  } catch (error) {
    if (error instanceof PublicKeyError) return error.message;
  }
  return 'taken';
}

describe('readPublicKeys', () => {
  it('reads published keys, and an empty set', () => {
    const set = { keys: [one, two] };
    expect(readPublicKeys(JSON.stringify(set))).toStrictEqual(set);
    expect(readPublicKeys('{"keys":[]}')).toStrictEqual({ keys: [] });
  });

  it('drops unknown fields, and a repeated key', () => {
    const { kty, crv, x, kid } = one;
    const bare = { kty, crv, x, kid, nbf: 1, x5c: ['…'] };
    expect(readPublicKeys(JSON.stringify({ keys: [bare, one] }))).toStrictEqual({ keys: [one] });
  });

  it.each([undefined, 'EdDSA', 'Ed25519'])('takes a key for the algorithm %j', (alg) => {
    expect(readPublicKeys(JSON.stringify({ keys: [{ ...one, alg }] }))).toStrictEqual({
      keys: [one],
    });
  });

  const named = 'key 1 (kid "one")';
  const notEd25519 = 'is not an Ed25519 key; it needs "kty": "OKP" and "crv": "Ed25519"';
  const noX = 'has no usable "x"; it must be 32 bytes in base64url';
  it.each<[string, unknown, string]>([
    ['no JSON', '{"keys":', 'it is not valid JSON; it must be a JWKS such as {"keys": []}'],
    ['a list', [one], 'it has no list "keys"; it must be a JWKS such as {"keys": []}'],
    ['one key', one, 'it has no list "keys"; it must be a JWKS such as {"keys": []}'],
    ['nothing', null, 'it has no list "keys"; it must be a JWKS such as {"keys": []}'],
    [
      'keys that are not a list',
      { keys: one },
      'it has no list "keys"; it must be a JWKS such as {"keys": []}',
    ],
    ['a key that is not an object', { keys: [one, 7] }, 'key 2 is not a JSON object'],
    [
      'a key without a name',
      { keys: [{ ...one, kid: '' }] },
      'key 1 has no "kid"; give it the name that signed lines carry',
    ],
    [
      'a key whose name is not a string',
      { keys: [{ ...one, kid: ['one'] }] },
      'key 1 has no "kid"; give it the name that signed lines carry',
    ],
    [
      'another key type on the same curve',
      { keys: [{ ...one, kty: 'EC' }] },
      `${named} ${notEd25519}`,
    ],
    ['a list for x', { keys: [{ ...one, x: [one.x] }] }, `${named} ${noX}`],
    ['another curve', { keys: [{ ...one, crv: 'X25519' }] }, `${named} ${notEd25519}`],
    ['an EC key', { keys: [{ ...one, kty: 'EC', crv: 'P-256' }] }, `${named} ${notEd25519}`],
    ['a short key', { keys: [{ ...one, x: one.x.slice(0, 42) }] }, `${named} ${noX}`],
    ['a long key', { keys: [{ ...one, x: `${one.x}A` }] }, `${named} ${noX}`],
    ['a padded key', { keys: [{ ...one, x: `${one.x}=` }] }, `${named} ${noX}`],
    ['a key with odd bits', { keys: [{ ...one, x: `${one.x.slice(0, 42)}B` }] }, `${named} ${noX}`],
    ['a key without x', { keys: [{ ...one, x: undefined }] }, `${named} ${noX}`],
    [
      'a private key',
      { keys: [{ ...one, d: 'secret' }] },
      `${named} holds a private key; publish the public part alone`,
    ],
    [
      'another algorithm',
      { keys: [{ ...one, alg: 'RS256' }] },
      `${named} is not for Ed25519 signatures; its "alg" must be "EdDSA"`,
    ],
    [
      'two keys of one name',
      { keys: [one, { ...two, kid: 'one' }] },
      'two different keys have the kid "one"; give each its own',
    ],
  ])('refuses %s', (_, value, message) => {
    expect(refusal(value)).toBe(message);
  });
});
