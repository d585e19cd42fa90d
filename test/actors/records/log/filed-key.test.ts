import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFiledKey } from '../../../../src/actors/records/log/filed-key.ts';
import { openAuditKeys } from '../../../../src/actors/records/log/open-audit-keys.ts';
import { keyOf } from './log-of.ts';

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'filed-key-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, '.service');
}

const off = { enabled: false, key_env: 'KEY', kid: 'v1' };

describe('the key in the state folder', () => {
  it('is created once, for its owner only, and named after its public part', () => {
    const folder = stateFolder();
    const { key } = readFiledKey(folder, true);
    expect(key?.publicKey.kid).toMatch(/^audit-[0-9a-f]{16}$/);
    expect(statSync(join(folder, 'audit-key.pem')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFiledKey(folder, true)).toMatchObject({
      key: { publicKey: key?.publicKey },
      known: [key?.publicKey],
    });
  });

  it('is not created by a reader', () => {
    expect(readFiledKey(stateFolder(), false)).toEqual({ key: null, known: [] });
  });

  it('stays published after it is lost, and the next one has another name', () => {
    const folder = stateFolder();
    const first = readFiledKey(folder, true).key?.publicKey;
    rmSync(join(folder, 'audit-key.pem'));
    const second = readFiledKey(folder, true).key?.publicKey;
    expect(second?.kid).not.toBe(first?.kid);
    const source = { env: {}, folder };
    const { signer, published } = openAuditKeys({ sign: true, signing: off }, source);
    expect(signer?.kid).toBe(second?.kid);
    expect(published).toEqual({ keys: [second, first] });
    expect(readFileSync(join(folder, 'audit-keys.json'), 'utf8')).not.toContain('"d"');
  });

  it('is refused when others may read it, and when it is invalid', () => {
    const folder = stateFolder();
    readFiledKey(folder, true);
    const path = join(folder, 'audit-key.pem');
    chmodSync(path, 0o644);
    expect(() => readFiledKey(folder, true)).toThrow(
      `${path} can be read by others; take that away with chmod 600`,
    );
    writeFileSync(path, 'not-a-key');
    chmodSync(path, 0o600);
    expect(() => readFiledKey(folder, true)).toThrow(
      expect.objectContaining({
        code: 'signing_key_unusable',
        message: `${path} is neither PEM nor base64; it must hold an Ed25519 private key as PKCS#8, PEM or base64`,
      }),
    );
  });

  it('is overridden by the key of a variable, and signs nothing while signing is off', () => {
    const folder = stateFolder();
    const filed = readFiledKey(folder, true).key?.publicKey;
    const { publicKey, privateKey } = keyOf('v1', Buffer.alloc(32, 3));
    const keys = openAuditKeys({ sign: false, signing: off }, { env: {}, folder });
    expect(keys).toEqual({ signer: null, published: { keys: [] } });
    const env = { KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
    const both = openAuditKeys({ sign: true, signing: { ...off, enabled: true } }, { env, folder });
    expect([both.signer?.kid, both.published.keys]).toEqual(['v1', [publicKey, filed]]);
  });
});
