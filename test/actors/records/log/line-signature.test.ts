import { describe, expect, it } from 'vitest';
import { verifySignature } from '../../../../src/actors/records/log/line-signature.ts';
import { nodeKeyRing } from '../../../../src/actors/records/log/node-crypto.ts';
import type { JsonObject, JsonValue } from '../../../../src/machines/json.ts';
import { events, logOf, testKey } from './log-of.ts';

const own = testKey('service-audit-v1', 1);
const signed = JSON.parse(logOf(events(1), undefined, own.signer).lines[0]!) as JsonObject;
const { sig: _sig, kid: _kid, ...bare } = signed;
const sig = String(signed['sig']);
const ring = nodeKeyRing({ keys: [own.publicKey] });

describe('verifySignature', () => {
  it('accepts a line with its own signature', async () => {
    expect(await verifySignature(signed, { keys: ring, requireSigned: true })).toBeNull();
  });

  it('returns at once for a line without a signature', () => {
    expect(verifySignature(signed, { keys: null, requireSigned: true })).toBeNull();
    expect(verifySignature(bare, { keys: ring, requireSigned: false })).toBeNull();
    expect(verifySignature(bare, { keys: ring, requireSigned: true })).toBe('sig is missing');
  });

  const notBase64 = 'sig is not an Ed25519 signature in base64';
  it.each<[string, JsonObject, string]>([
    ['a key without a signature', { ...bare, kid: 'service-audit-v1' }, 'sig is missing'],
    ['an invalid key without a signature', { ...bare, kid: null }, 'sig is missing'],
    ['no key', { ...bare, sig }, 'kid is missing'],
    ['an empty key', { ...signed, kid: '' }, 'kid is missing'],
    ['a key that is not a string', { ...signed, kid: ['service-audit-v1'] }, 'kid is missing'],
    ['a signature in a list', { ...signed, sig: [sig] as JsonValue }, notBase64],
    ['an empty signature', { ...signed, sig: '' }, notBase64],
    ['no signature at all', { ...signed, sig: null }, notBase64],
    ['a signature with further text', { ...signed, sig: `${sig}=` }, notBase64],
    ['odd bits at the end of a signature', { ...signed, sig: `${sig.slice(0, -3)}B==` }, notBase64],
  ])('refuses %s, with keys and without', (_, line, reason) => {
    for (const keys of [null, ring]) {
      expect(verifySignature(line, { keys, requireSigned: false })).toBe(reason);
    }
  });

  it('refuses an unknown key', () => {
    const line = { ...signed, kid: 'stranger' };
    const reason = 'kid is not one of the keys';
    expect(verifySignature(line, { keys: ring, requireSigned: false })).toBe(reason);
    expect(verifySignature(line, { keys: null, requireSigned: false })).toBeNull();
  });

  it('refuses a line that differs from the signed one', async () => {
    const reason = 'sig does not match the line';
    const options = { keys: ring, requireSigned: false };
    expect(await verifySignature({ ...signed, seq: 2 }, options)).toBe(reason);
    const { seq: _seq, ...less } = signed;
    expect(await verifySignature(less, options)).toBe(reason);
  });
});
