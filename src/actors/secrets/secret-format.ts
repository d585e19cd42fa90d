import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';

export type Secrets = ReadonlyMap<string, string>;

/** Maximum memory for key derivation, in bytes; the minimum parameters need half of it. */
const maxmem = 256 * 1024 * 1024;

const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** Maximum characters of a header; headers written here have about 150. */
const longestHeader = 1024;

const floor = { n: 2 ** 17, r: 8, p: 1 };

const bytes = (length: number) =>
  z
    .string()
    .transform((text) => decode(text))
    .refine((found) => found.length === length);

/**
 * Rejects parameters below the minimum, and parameters that would overload this machine. Parameters that scrypt itself
 * would refuse must never reach it: OpenSSL retains that error, and reading the next key would fail with it.
 */
const headerSchema = z
  .strictObject({
    version: z.literal(1),
    kdf: z.literal('scrypt'),
    n: z.int().min(floor.n),
    r: z.int().min(floor.r).max(32),
    p: z.int().min(floor.p).max(4),
    salt: bytes(saltBytes),
    nonce: bytes(nonceBytes),
  })
  .refine(({ n }) => Number.isInteger(Math.log2(n)))
  .refine(({ n, r, p }) => 128 * r * (n + 2 + p) <= maxmem);

const payloadSchema = z.array(z.tuple([z.string(), z.string()]));

/** Derives the 32 bytes of a key from a normalised passphrase, since keyboards compose letters differently. */
export type DeriveKey = (passphrase: string, parameters: KeyParameters) => Promise<Buffer>;

interface KeyParameters {
  n: number;
  r: number;
  p: number;
  salt: Buffer;
}

const deriveBytes = promisify<string, Buffer, number, object, Buffer>(scrypt);

/**
 * Encrypts secrets into the text of a file (docs/contract/secrets.md): a line of JSON with version, key derivation and
 * nonce, which is authenticated, then a line of base64 with the AES-256-GCM ciphertext and its tag.
 */
export async function encodeSecrets(
  secrets: Secrets,
  passphrase: string,
  derive: DeriveKey = deriveByScrypt,
): Promise<string> {
  const [salt, nonce] = [randomBytes(saltBytes), randomBytes(nonceBytes)];
  const key = await derive(passphrase.normalize('NFKC'), { ...floor, salt });
  const header = JSON.stringify({
    version: 1,
    kdf: 'scrypt',
    ...floor,
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
  });
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(header));
  const payload = JSON.stringify([...secrets]);
  const sealed = Buffer.concat([
    cipher.update(payload, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return `${header}\n${sealed.toString('base64')}\n`;
}

/** Decrypts the text of a file; `null` for a wrong passphrase and for any text that `encodeSecrets` did not write. */
export async function decodeSecrets(
  text: string,
  passphrase: string,
  derive: DeriveKey = deriveByScrypt,
): Promise<Secrets | null> {
  const [, head = '', body = ''] = /^([^\n]+)\n([^\n]*)\n$/.exec(text) ?? [];
  try {
    if (head.length > longestHeader) return null;
    const header = headerSchema.parse(JSON.parse(head));
    const sealed = decode(body);
    if (sealed.length < tagBytes) return null;
    const tag = sealed.subarray(-tagBytes);
    const key = await derive(passphrase.normalize('NFKC'), header);
    const decipher = createDecipheriv('aes-256-gcm', key, header.nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(head))
      .setAuthTag(tag);
    const payload = Buffer.concat([
      decipher.update(sealed.subarray(0, -tagBytes)),
      decipher.final(),
    ]);
    return new Map(payloadSchema.parse(JSON.parse(payload.toString('utf8'))));
  } catch {
    return null;
  }
}

function deriveByScrypt(passphrase: string, { n, r, p, salt }: KeyParameters): Promise<Buffer> {
  return deriveBytes(passphrase, salt, 32, { N: n, r, p, maxmem });
}

/** Accepts only canonical base64, so that every changed character of a file is detected. */
function decode(text: string): Buffer {
  const found = Buffer.from(text, 'base64');
  return found.toString('base64') === text ? found : Buffer.alloc(0);
}
