import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import {
  type CredentialEntry,
  CredentialError,
  CredentialVault,
  createCredentialIssuer,
} from '../../../../src/actors/governance/credentials/credentials.ts';
import type { Log } from '../../../../src/actors/ports/log.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const entry: CredentialEntry = {
  tool: 'refund',
  provider: 'static',
  spec: { env: { API_KEY: { from_env: 'SHOP_KEY' }, SAME: { from_env: 'SHOP_KEY' } } },
};

function issuerOf(env: Record<string, string>, entries = [entry], log: Log = quiet) {
  return createCredentialIssuer(entries, { env, clock: new ManualClock(0), log });
}

function request(tool = 'refund', signal = new AbortController().signal) {
  return { tool, taskId: 'task-1', callId: 'call-1', signal };
}

it('static values are issued for their lifetime', async () => {
  const issuer = issuerOf({ SHOP_KEY: 'canary-shop-key' });
  const credential = await issuer.issue(request());
  expect(issuer.providerOf('refund')).toBe('static');
  expect({ ...credential }).toEqual({ provider: 'static', ttl: null });
  expect(credential.env()).toEqual({ API_KEY: 'canary-shop-key', SAME: 'canary-shop-key' });
  expect(credential.secretValues()).toEqual(['canary-shop-key']);
});

it('a revoked credential returns nothing, not even an empty list of secrets', async () => {
  const credential = await issuerOf({ SHOP_KEY: 'canary-shop-key' }).issue(request());
  credential.revoke();
  credential.revoke();
  expect(() => credential.env()).toThrow(CredentialError);
  expect(() => credential.secretValues()).toThrow(CredentialError);
});

it('a credential is not changed by its readers', async () => {
  const credential = await issuerOf({ SHOP_KEY: 'canary-shop-key' }).issue(request());
  Object.assign(credential.env(), { API_KEY: 'other' });
  expect(credential.env()['API_KEY']).toBe('canary-shop-key');
});

it('a tool without an entry has no credential', async () => {
  const issuer = issuerOf({ SHOP_KEY: 'canary-shop-key' });
  expect(issuer.providerOf('lookup')).toBe(null);
  await expect(issuer.issue(request('lookup'))).rejects.toThrow(
    new CredentialError('no credential is configured for lookup; add one'),
  );
});

it('a call fails when its variable was removed before it', async () => {
  const env: Record<string, string> = { SHOP_KEY: 'canary-shop-key' };
  const issuer = issuerOf(env);
  delete env['SHOP_KEY'];
  await expect(issuer.issue(request())).rejects.toThrow(
    new CredentialError(
      'the credential for refund could not be issued: the environment variable SHOP_KEY is not set',
    ),
  );
});

it('a call fails when its task was stopped before', async () => {
  await expect(
    issuerOf({ SHOP_KEY: 'canary-shop-key' }).issue(request('refund', AbortSignal.abort())),
  ).rejects.toThrow(
    new CredentialError('the credential for refund could not be issued: the task was stopped'),
  );
});

it('a missing variable is logged, except after the task was stopped', async () => {
  const lines: unknown[] = [];
  const warn = (fields: object, message: string) => void lines.push([fields, message]);
  const env: Record<string, string> = { SHOP_KEY: 'canary-shop-key' };
  const issuer = issuerOf(env, [entry], { ...quiet, warn });
  delete env['SHOP_KEY'];
  await issuer.issue(request('refund', AbortSignal.abort())).catch(() => undefined);
  expect(lines).toEqual([]);
  await issuer.issue(request()).catch(() => undefined);
  expect(lines).toEqual([
    [
      {
        ...{ tool: 'refund', provider: 'static', task_id: 'task-1', call_id: 'call-1' },
        ...{ reason: 'the environment variable SHOP_KEY is not set', status: null },
      },
      'credential: could not be issued',
    ],
  ]);
});

it('an issuer accepts entries with warnings, and secrets', async () => {
  const spec = { env: { A: { secret: 'SHORT' }, B: { secret: 'SHOP_KEY' } } };
  const env: Record<string, string> = { SHORT: 'abcde', SHOP_KEY: 'canary-shop-key' };
  const issuer = issuerOf(env, [{ tool: 'refund', provider: 'static', spec }]);
  expect((await issuer.issue(request())).env()).toEqual({ A: 'abcde', B: 'canary-shop-key' });
  delete env['SHOP_KEY'];
  await expect(issuer.issue(request())).rejects.toThrow(
    new CredentialError(
      'the credential for refund could not be issued: there is no secret SHOP_KEY: set it with holdpoint secret set SHOP_KEY',
    ),
  );
});

it('an issuer refuses entries with errors', () => {
  expect(() => issuerOf({})).toThrow(
    new CredentialError(
      'credentials.0.spec.env.API_KEY.from_env: the environment variable SHOP_KEY is not set; it must hold the value of API_KEY',
    ),
  );
  expect(() => issuerOf({ SHOP_KEY: 'canary-shop-key' }, [entry, entry])).toThrow(CredentialError);
});

it('no value is shown when an issuer, a credential or a vault is printed', async () => {
  const issuer = issuerOf({ SHOP_KEY: 'canary-shop-key' });
  const credential = await issuer.issue(request());
  const vault = new CredentialVault();
  vault.put('call-1', credential);
  for (const thing of [issuer, credential, vault]) {
    const printed = inspect(thing, { depth: null, showHidden: true, getters: true });
    expect(printed + JSON.stringify(thing) + String(thing)).not.toContain('canary');
    expect(JSON.stringify(Object.entries(thing))).not.toContain('canary');
  }
  expect(JSON.stringify(credential)).toBe('{"provider":"static","ttl":null}');
  expect(JSON.stringify(vault)).toBe('{}');
});
