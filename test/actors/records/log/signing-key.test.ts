import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSigningKey, SigningKeyError } from '../../../../src/actors/records/log/audit.ts';
import { keyOf, vectorSeed } from './log-of.ts';

const { privateKey, publicKey } = keyOf('k', Buffer.from(vectorSeed, 'hex'));
const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');

const read = (value: string | undefined) =>
  readSigningKey({ AUDIT_KEY: value }, { key_env: 'AUDIT_KEY', kid: 'k' });

function refusal(value: string | undefined): string {
  try {
    read(value);
  } catch (error) {
    if (error instanceof SigningKeyError) return error.message;
  }
  return 'taken';
}

const rest = 'it must hold an Ed25519 private key as PKCS#8, PEM or base64';
const pemOf = (key: KeyObject, type: 'pkcs8' | 'spki' | 'sec1') =>
  key.export({ format: 'pem', type } as never).toString();

describe('readSigningKey', () => {
  it.each<[string, string]>([
    ['PEM', pem],
    ['PEM with escaped line breaks', pem.replaceAll('\n', '\\n')],
    ['PEM with CRLF', pem.replaceAll('\n', '\r\n')],
    ['PEM between blanks', ` \n${pem}\n `],
    ['base64', der],
    ['base64 between blanks', `\n ${der} \n`],
    ['base64 over several lines', `${der.slice(0, 20)}\n${der.slice(20)}`],
  ])('reads %s', (_, value) => {
    const key = read(value);
    expect(key.publicKey).toStrictEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      kid: 'k',
      use: 'sig',
      alg: 'EdDSA',
    });
    expect(key.publicKey).toStrictEqual(publicKey);
    // The signature of no bytes in the first test vector of RFC 8032.
    expect(Buffer.from(key.signer.sign(new Uint8Array()), 'base64').toString('hex')).toBe(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    );
  });

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const x25519 = generateKeyPairSync('x25519');
  const own = generateKeyPairSync('ed25519');
  const spki = own.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const encrypted = own.privateKey
    .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'p' })
    .toString();
  const rsaDer = rsa.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');

  it.each<[string, string, string]>([
    ['an RSA key', pemOf(rsa.privateKey, 'pkcs8'), 'holds a key of another kind (rsa)'],
    ['an RSA key in base64', rsaDer, 'holds a key of another kind (rsa)'],
    ['an EC key', pemOf(ec.privateKey, 'pkcs8'), 'holds a key of another kind (ec)'],
    [
      'an EC key of the older form',
      pemOf(ec.privateKey, 'sec1'),
      'holds a key of another kind (ec)',
    ],
    ['an X25519 key', pemOf(x25519.privateKey, 'pkcs8'), 'holds a key of another kind (x25519)'],
    ['a public key', pemOf(own.publicKey, 'spki'), 'holds a public key'],
    ['a public key in base64', spki, 'holds a public key'],
    ['an encrypted key', encrypted, 'holds an encrypted key'],
    ['a word', 'secret-of-mine!', 'is neither PEM nor base64'],
    ['base64 of other data', 'c2VjcmV0LW9mLW1pbmU=', 'holds no key'],
    ['the beginning of a key', der.slice(0, -12), 'holds no key'],
    ['a cut PEM', pem.slice(0, 60), 'holds no key'],
  ])('refuses %s without quoting it', (_, value, what) => {
    expect(refusal(value)).toBe(`the environment variable AUDIT_KEY ${what}; ${rest}`);
  });

  it.each([undefined, '', ' \n'])('refuses a variable that is not set: %j', (value) => {
    expect(refusal(value)).toBe(
      'the environment variable AUDIT_KEY is not set; it must hold the audit key, which holdpoint key generate makes',
    );
  });

  it('accepts only a variable that is set', () => {
    const message = expect.stringContaining('the environment variable constructor is not set');
    expect(() => readSigningKey({}, { key_env: 'constructor', kid: 'k' })).toThrow(
      expect.objectContaining({ code: 'signing_key_unusable', message }),
    );
  });

  it('quotes no refused key', () => {
    const anyText = fc.oneof(fc.string({ minLength: 12 }), fc.base64String({ minLength: 12 }));
    const text = anyText.filter((value) => value.trim().length >= 12);
    fc.assert(fc.property(text, (value) => !refusal(value).includes(value.trim())));
  });

  it('keeps the key out of what can be printed', () => {
    const key = read(pem);
    const shown = JSON.stringify(key) + String(key.signer) + Object.values(key.signer).join();
    expect(shown).not.toContain(der.slice(-43, -1));
    expect(Object.keys(key.signer)).toStrictEqual(['kid', 'sign']);
  });
});
