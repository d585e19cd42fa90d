import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AuditKeySettings,
  type AuditKeys,
  keyRotation,
  lastSignedLine,
  openAuditKeys,
} from '../../../../src/actors/records/log/audit.ts';
import { checkpointedLog, events, keyOf, logOf, testKey } from './log-of.ts';

const settings = { enabled: true, key_env: 'KEY', kid: 'new' };
const { privateKey, publicKey } = keyOf('new', Buffer.alloc(32, 9));
const KEY = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const older = testKey('old', 1);
const environment = (keys: unknown) => ({
  KEY,
  SERVICE_AUDIT_VERIFY_KEYS: typeof keys === 'string' ? keys : JSON.stringify(keys),
});

function openKeys(signing: AuditKeySettings['signing'], env: NodeJS.ProcessEnv): AuditKeys {
  return openAuditKeys({ sign: false, signing }, { env, folder: null });
}

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-keys-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('openAuditKeys', () => {
  it('signs and publishes nothing while signing is off', () => {
    const off = { ...settings, enabled: false };
    expect(openKeys(off, {})).toStrictEqual({ signer: null, published: { keys: [] } });
    expect(openKeys(off, environment({ keys: [older.publicKey] }))).toStrictEqual({
      signer: null,
      published: { keys: [older.publicKey] },
    });
  });

  it('publishes the current key first and the older ones of a string or a file after it', async () => {
    const path = join(folder, 'older.json');
    await writeFile(path, JSON.stringify({ keys: [older.publicKey, publicKey] }));
    const keys = [publicKey, older.publicKey];
    for (const source of [path, { keys: [older.publicKey] }]) {
      const { signer, published } = openKeys(settings, environment(source));
      expect(signer?.kid).toBe('new');
      expect(published).toStrictEqual({ keys });
    }
  });

  it('ignores blanks around the older keys', async () => {
    const path = join(folder, 'older.json');
    const text = JSON.stringify({ keys: [older.publicKey] });
    await writeFile(path, text);
    const published = (source: string) =>
      openKeys(settings, environment(source)).published.keys.map(({ kid }) => kid);
    expect([' \n', ` ${text}\n`, ` ${path} `].map(published)).toStrictEqual([
      ['new'],
      ['new', 'old'],
      ['new', 'old'],
    ]);
  });

  it.each<[string, unknown, string]>([
    [
      'another key of the same name',
      { keys: [{ ...older.publicKey, kid: 'new' }] },
      'SERVICE_AUDIT_VERIFY_KEYS holds another key with the kid "new"; give the new key a new kid',
    ],
    [
      'a short key',
      { keys: [{ ...older.publicKey, x: 'AAAA' }] },
      'SERVICE_AUDIT_VERIFY_KEYS cannot be used: key 1 (kid "old") has no usable "x"; it must be 32 bytes in base64url',
    ],
    [
      'the path of a missing file',
      '/nowhere/keys.json',
      'the file that SERVICE_AUDIT_VERIFY_KEYS names cannot be read (ENOENT); it must hold a JWKS',
    ],
  ])('refuses %s', (_, keys, message) => {
    expect(() => openKeys(settings, environment(keys))).toThrow(
      expect.objectContaining({ code: 'audit_keys_invalid', message }),
    );
  });
});

describe('the change of a key', () => {
  const keys = openKeys(settings, { KEY });

  async function logged(...contents: string[]): Promise<string[]> {
    const paths = contents.map((_, index) => join(folder, `${index}.ndjson`));
    await Promise.all(paths.map((path, index) => writeFile(path, contents[index]!)));
    return paths;
  }

  it('is an event when the last signed line names another key', async () => {
    const signed = checkpointedLog(3, older.signer);
    const unsigned = logOf(events(2), signed.head);
    const paths = await logged(signed.lines.join(''), unsigned.lines.join(''));
    const last = await lastSignedLine([...paths, join(folder, 'missing.ndjson')]);
    expect(last).toStrictEqual(JSON.parse(signed.lines.at(-1)!));
    expect(await keyRotation(last, keys)).toStrictEqual({
      event: 'audit_key_rotated',
      fields: { old_kid: 'old', new_kid: 'new' },
    });
  });

  it('is none without signatures, with the same key and while signing is off', async () => {
    const [unsigned] = await logged(logOf(events(3)).lines.join(''));
    expect(await lastSignedLine([unsigned!])).toBeNull();
    expect(await keyRotation(null, keys)).toBeNull();
    const own = JSON.parse(logOf(events(1), undefined, keys.signer).lines[0]!);
    expect(await keyRotation(own, keys)).toBeNull();
    const off = openKeys({ ...settings, enabled: false }, {});
    expect(await keyRotation(own, off)).toBeNull();
  });

  it('is refused when the new key keeps the name of the old one', async () => {
    const impostor = testKey('new', 4).signer;
    const line = JSON.parse(logOf(events(1), undefined, impostor).lines[0]!);
    await expect(keyRotation(line, keys)).rejects.toMatchObject({
      code: 'audit_keys_invalid',
      message:
        'the log was signed with another key under the kid "new", or was changed; give a new key a new audit.signing.kid',
    });
  });
});

describe('the private key', () => {
  it('is never written, published, printed or inspectable', async () => {
    const { signer, published } = openKeys(settings, { KEY });
    const line = logOf(events(3), undefined, signer).lines.join('');
    const refused = [{ KEY: KEY.slice(0, 80) }, { KEY: `${KEY}x`.replace('PRIVATE', 'EC') }];
    const told = refused.map((env) => {
      try {
        return inspect(openKeys(settings, env), { depth: 9, showHidden: true });
      } catch (error) {
        return inspect(error, { depth: 9 });
      }
    });
    const rotation = await keyRotation(
      JSON.parse(logOf(events(1), undefined, older.signer).lines[0]!),
      {
        signer,
        published,
      },
    );
    const looked = inspect({ signer, published, rotation }, { depth: 9, showHidden: true });
    const everything = [line, JSON.stringify({ signer, published, rotation }), looked, ...told];
    const seed = Buffer.alloc(32, 9);
    const canaries = [
      KEY.split('\n')[1]!.slice(20, 60),
      seed.toString('base64').slice(0, 40),
      seed.toString('base64url').slice(0, 40),
      seed.toString('hex'),
      seed.toString('latin1'),
    ];
    const found = canaries.filter((canary) => everything.some((text) => text.includes(canary)));
    expect(found).toEqual([]);
  });
});
