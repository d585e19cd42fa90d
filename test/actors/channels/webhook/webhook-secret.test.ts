import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  webhookKeys,
  webhookSecretFault,
} from '../../../../src/actors/channels/webhook/webhook-secret.ts';

const make = 'make one with: openssl rand -base64 32';

describe('webhookSecretFault', () => {
  it.each([
    ['', `must not be empty; ${make}`],
    [' \n', `must not be empty; ${make}`],
    [
      'a-secret-of-24-characters\n',
      'begins or ends with white space; remove it, since receivers would not match it',
    ],
    ['fifteen-bytes-x', `must hold 16 bytes or more; ${make}`],
    [`whsec_${'A'.repeat(20)}`, `must hold 16 bytes or more; ${make}`],
    ['whsec_', `must hold 16 bytes or more; ${make}`],
    ['whsec_not!base64!not!base64!', 'must be base64 after whsec_; copy it again'],
    [`whsec_${'A'.repeat(25)}`, 'must be base64 after whsec_; copy it again'],
    [`whsec_${'A'.repeat(24)} whsec_AAAA`, `must hold 16 bytes or more; ${make}`],
  ])('refuses %j', (secret, fault) => {
    expect(webhookSecretFault(secret)).toBe(fault);
  });

  it.each([
    'sixteen-bytes-xx',
    'correct horse battery staple',
    'ключ-к-вебхуку',
    `whsec_${randomBytes(24).toString('base64')}`,
    `whsec_${randomBytes(16).toString('base64').replaceAll('=', '')}`,
    `whsec_${'A'.repeat(24)} whsec_${'B'.repeat(24)}`,
  ])('accepts a secret that is long enough', (secret) => {
    expect(webhookSecretFault(secret)).toBeNull();
  });

  it('does not quote a secret', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), (secret) => {
        expect(webhookSecretFault(`canary-${secret}`) ?? '').not.toContain('canary');
        expect(webhookSecretFault(`whsec_canary-${secret}`) ?? '').not.toContain('canary');
      }),
    );
  });
});

describe('webhookKeys', () => {
  it('reads base64 after whsec_ as the bytes of the key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 64 }), (bytes) => {
        const key = Buffer.from(bytes);
        const secret = `whsec_${key.toString('base64')}`;
        expect(webhookSecretFault(secret)).toBeNull();
        expect(webhookKeys(secret)).toEqual([key]);
      }),
    );
  });

  it('uses any other string as its own bytes, base64 or not', () => {
    const texts = ['c2l4dGVlbi1ieXRlcy14eA==', 'ключ-к-вебхуку', 'a b whsec_c'];
    expect(texts.map(webhookKeys)).toEqual(texts.map((text) => [Buffer.from(text)]));
  });

  it('reads several whsec_ secrets as one key each', () => {
    const one = randomBytes(24);
    const other = randomBytes(24);
    const secret = `whsec_${one.toString('base64')} whsec_${other.toString('base64')}`;
    expect(webhookKeys(secret)).toEqual([one, other]);
  });
});
