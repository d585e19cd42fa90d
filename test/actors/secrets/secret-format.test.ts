import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeSecrets, encodeSecrets } from '../../../src/actors/secrets/secret-format.ts';

const passphrase = 'correct horse battery staple';
const secrets = new Map([
  ['SHOP_KEY', 'canary-value'],
  ['__proto__', 'polluted'],
  ['PEM', 'line one\nline two\n'],
]);

const { privateKey } = generateKeyPairSync('ed25519');
const der = privateKey.export({ format: 'der', type: 'pkcs8' });

const text = await encodeSecrets(secrets, passphrase);
const [head = '', body = ''] = text.split('\n');
const header = JSON.parse(head) as Record<string, unknown>;

describe('the file of secrets', () => {
  it('has a header with the parameters, then the ciphertext, and no plain text', () => {
    expect(header).toEqual({
      version: 1,
      kdf: 'scrypt',
      n: 131_072,
      r: 8,
      p: 1,
      salt: expect.stringMatching(/^[\w+/]{22}==$/),
      nonce: expect.stringMatching(/^[\w+/]{16}$/),
    });
    for (const word of ['SHOP_KEY', 'canary-value', passphrase]) {
      expect(text).not.toContain(word);
      expect(Buffer.from(body, 'base64').toString('latin1')).not.toContain(word);
    }
  });

  it('is decrypted unchanged, and encrypted differently each time', async () => {
    expect(await decodeSecrets(text, passphrase)).toEqual(secrets);
    const again = await encodeSecrets(secrets, passphrase);
    expect(again.split('\n')[0]).not.toBe(head);
  });

  it('opens with the same passphrase in any Unicode composition', async () => {
    const composed = await encodeSecrets(secrets, 'caf\u00e9');
    expect(await decodeSecrets(composed, 'cafe\u0301')).toEqual(secrets);
  });

  it.each<[string, string]>([
    ['another salt', withHeader({ salt: Buffer.alloc(16).toString('base64') })],
    ['another nonce', withHeader({ nonce: Buffer.alloc(12).toString('base64') })],
    ['more work than it was encrypted with', withHeader({ p: 2 })],
    ['an equal header in another notation', `${head.replace(',', ', ')}\n${body}\n`],
    ['a changed first byte', `${head}\n${flipped(body, 0)}\n`],
    ['a changed byte of the tag', `${head}\n${flipped(body, body.length - 4)}\n`],
    ['a missing byte', `${head}\n${body.slice(4)}\n`],
  ])('does not open with %s', async (_, changed) => {
    expect(changed).not.toBe(text);
    expect(await decodeSecrets(changed, passphrase)).toBeNull();
  });

  it('does not open with another passphrase', async () => {
    expect(await decodeSecrets(text, `${passphrase} `)).toBeNull();
  });

  it.each<[string, string]>([
    ['a work factor below the floor', withHeader({ n: 65_536 })],
    ['a block size below the floor', withHeader({ r: 4 })],
    ['a work factor that takes all memory', withHeader({ n: 2 ** 30 })],
    ['parallelism that takes a day', withHeader({ p: 1_000_000 })],
    ['a work factor that is no power of two', withHeader({ n: 131_073 })],
    ['another version', withHeader({ version: 2 })],
    ['another key derivation', withHeader({ kdf: 'none' })],
    ['an unknown key', withHeader({ hint: 'x' })],
    ['a short nonce', withHeader({ nonce: 'AAAA' })],
    ['a header of ten megabytes', withHeader({ salt: 'A'.repeat(10_000_000) })],
    ['base64 in another form', `${head}\n${body}=\n`],
    ['no ciphertext', `${head}\n${body}`],
    ['more data at its end', `${text}\n`],
    ['no content', ''],
    ['only a header', `${head}\n\n`],
    ['no header', `${body}\n`],
  ])('does not open with %s', async (_, changed) => {
    expect(await decodeSecrets(changed, passphrase)).toBeNull();
    // OpenSSL would tell the next caller of a refusal of its own.
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    expect(key.equals(privateKey)).toBe(true);
  });
});

function withHeader(changes: Record<string, unknown>): string {
  return `${JSON.stringify({ ...header, ...changes })}\n${body}\n`;
}

/** The same base64 with another byte in it, still in its canonical form. */
function flipped(base64: string, at: number): string {
  const byte = Math.floor((at * 3) / 4);
  const bytes = Buffer.from(base64, 'base64');
  bytes.writeUInt8(bytes.readUInt8(byte) ^ 1, byte);
  return bytes.toString('base64');
}
