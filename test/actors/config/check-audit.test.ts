import { describe, expect, it } from 'vitest';
import { keyOf, testKey } from '../records/log/log-of.ts';
import { linesOf, read } from './reading.ts';

const { privateKey } = keyOf('k', Buffer.alloc(32, 6));
const key = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
const older = JSON.stringify({ keys: [testKey('k', 1).publicKey] });

const on = 'agent_id: x\naudit:\n  signing:\n    enabled: true\n    key_env: KEY\n    kid: k\n';
const off = on.replace('true', 'false');

describe('audit.signing', () => {
  it('is accepted with a key, and without one while it is off', () => {
    expect(linesOf(read(on, { KEY: key }))).toEqual([]);
    expect(linesOf(read(off))).toEqual([]);
  });

  it('is refused at key_env when its variable contains no key', () => {
    const needs = 'it must hold an Ed25519 private key as PKCS#8, PEM or base64';
    expect(linesOf(read(on))).toEqual([
      'error 5:14 audit.signing.key_env | the environment variable KEY is not set; it must hold the audit key, which holdpoint key generate makes',
    ]);
    expect(linesOf(read(on, { KEY: 'secret!' }))).toEqual([
      `error 5:14 audit.signing.key_env | the environment variable KEY is neither PEM nor base64; ${needs}`,
    ]);
  });

  it('names the place of a key that is not hard-coded', () => {
    const [line] = linesOf(read('agent_id: x\naudit: {signing: {enabled: true}}\n'));
    expect(line).toMatch(
      /^error 2:\d+ audit\.signing\.key_env \| the environment variable SERVICE_AUDIT_SIGNING_KEY is not set; /,
    );
  });

  it('is refused at kid when an older key has the same one', () => {
    expect(linesOf(read(on, { KEY: key, SERVICE_AUDIT_VERIFY_KEYS: older }))).toEqual([
      'error 6:10 audit.signing.kid | SERVICE_AUDIT_VERIFY_KEYS holds another key with the kid "k"; give the new key a new kid',
    ]);
  });

  it('reports unreadable older keys, also while it is off', () => {
    expect(linesOf(read(off, { SERVICE_AUDIT_VERIFY_KEYS: '{"keys": 1}' }))).toEqual([
      'error 6:10 audit.signing.kid | SERVICE_AUDIT_VERIFY_KEYS cannot be used: it has no list "keys"; it must be a JWKS such as {"keys": []}',
    ]);
  });

  it('warns of signatures without a chain', () => {
    expect(linesOf(read(`${on}  chain: false\n`, { KEY: key }))).toEqual([
      'warning 7:10 audit.chain | without the chain a removed line is not noticed, and audit verify refuses the log; leave it on',
    ]);
    expect(linesOf(read(`${off}  chain: false\n`))).toEqual([]);
  });
});
