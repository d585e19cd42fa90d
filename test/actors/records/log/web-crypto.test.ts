import { describe, expect, it } from 'vitest';
import type { KeyRing } from '../../../../src/actors/records/log/key-ring.ts';
import { nodeKeyRing, sha256Hex } from '../../../../src/actors/records/log/node-crypto.ts';
import { webKeyRing, webSha256Hex } from '../../../../src/actors/records/log/web-crypto.ts';
import { testKey } from './log-of.ts';

const own = testKey('service-audit-v1', 1);
const second = testKey('service-audit-v2', 2);
const keys = [own.publicKey, second.publicKey];

const line = Buffer.from('{"event":"x"}');
const signature = Buffer.from(own.signer.sign(line), 'base64');

const rings: [string, () => KeyRing | Promise<KeyRing>][] = [
  ['Node', () => nodeKeyRing({ keys })],
  ['a browser', () => webKeyRing({ keys })],
];

describe.each(rings)('the keys of a log in %s', (_, openRing) => {
  it('are found by their names', async () => {
    const ring = await openRing();
    const names = ['service-audit-v1', 'service-audit-v2', 'stranger', ''];
    expect(names.map((kid) => ring.has(kid))).toEqual([true, true, false, false]);
  });

  it.each<[string, string, Uint8Array, Uint8Array, boolean]>([
    ['the line', 'service-audit-v1', line, signature, true],
    ['another line', 'service-audit-v1', Buffer.from('{"event":"y"}'), signature, false],
    ['the line under another key', 'service-audit-v2', line, signature, false],
    ['the line under no key', 'stranger', line, signature, false],
    ['the line with a flipped bit', 'service-audit-v1', line, flipped(signature), false],
  ])('detect whether a signature belongs to %s', async (_case, kid, bytes, sig, isGenuine) => {
    const ring = await openRing();
    expect(await ring.verify(kid, bytes, sig)).toBe(isGenuine);
  });
});

describe('an invalid key', () => {
  it('is refused by each implementation before anything is checked', async () => {
    const broken = { keys: [{ ...own.publicKey, x: 'AAAA' }] };
    expect(() => nodeKeyRing(broken)).toThrow(TypeError);
    await expect(webKeyRing(broken)).rejects.toThrow(DOMException);
  });
});

describe('a hash in a browser', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('of %j equals the standard and Node', async (text, hash) => {
    expect(await webSha256Hex(Buffer.from(text))).toBe(hash);
    expect(sha256Hex(Buffer.from(text))).toBe(hash);
  });

  it('covers only the line, not its neighbours in memory', async () => {
    const bytes = Buffer.from('xxabcxx').subarray(2, 5);
    expect(await webSha256Hex(bytes)).toBe(sha256Hex(Buffer.from('abc')));
  });
});

function flipped(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes, (byte, index) => (index === 40 ? byte ^ 1 : byte));
}
