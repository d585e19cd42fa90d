import { describe, expect, it } from 'vitest';
import {
  findBaseIdentity,
  readAssumeRoleSpec,
  regionOf,
} from '../../../../src/actors/governance/credentials/assume-role-spec.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

const role_arn = 'arn:aws:iam::123456789012:role/refunds';
const quarter = 15 * 60_000;
const usual = { AWS_ACCESS_KEY_ID: 'AKIAUSUAL', AWS_SECRET_ACCESS_KEY: 'usual-secret' };
const other = { KEY: 'AKIAOTHER', SECRET: 'other-secret', TOKEN: 'other-token' };
const env = { ...usual, ...other, AWS_SESSION_TOKEN: 'usual-token' };

describe('the spec of a role', () => {
  it.each<[string, JsonObject, object]>([
    ['has 15 minutes by default', {}, { duration: quarter }],
    ['accepts a duration of 12 hours', { duration: '12h' }, { duration: 48 * quarter }],
    [
      'has its policy as JSON',
      { policy: { Version: '2012-10-17', Statement: [] } },
      { duration: quarter, policy: '{"Version":"2012-10-17","Statement":[]}' },
    ],
    [
      'keeps every setting',
      {
        session_name: 'ab',
        external_id: 'a:',
        region: 'eu-central-1',
        endpoint: 'http://127.0.0.1:4566',
        access_key_env: 'KEY',
        secret_key_env: 'SECRET',
        session_token_env: 'TOKEN',
      },
      {
        duration: quarter,
        session_name: 'ab',
        external_id: 'a:',
        region: 'eu-central-1',
        endpoint: 'http://127.0.0.1:4566',
        access_key_env: 'KEY',
        secret_key_env: 'SECRET',
        session_token_env: 'TOKEN',
      },
    ],
  ])('%s', (_, written, read) => {
    expect(readAssumeRoleSpec({ role_arn, ...written })).toEqual({
      ok: true,
      spec: { role_arn, ...read },
    });
  });

  it.each(['', '0', '-15m', '15', '14m59.999s', '12h0m0.001s', '25d', 'a quarter'])(
    'refuses a duration of %j',
    (duration) => {
      expect(readAssumeRoleSpec({ role_arn, duration })).toEqual({
        ok: false,
        findings: [
          {
            path: ['duration'],
            message: 'this must be a duration from 15m to 12h',
            severity: 'error',
          },
        ],
      });
    },
  );

  it('may name a role with at most 2,048 characters', () => {
    const longest = `arn:aws:iam::123456789012:role/${'a'.repeat(2_017)}`;
    expect(readAssumeRoleSpec({ role_arn: longest })).toEqual({
      ok: true,
      spec: { role_arn: longest, duration: quarter },
    });
    expect(readAssumeRoleSpec({ role_arn: `${longest}a` })).toEqual({
      ok: false,
      findings: [
        {
          path: ['role_arn'],
          message: 'the ARN of a role has at most 2048 characters',
          severity: 'error',
        },
      ],
    });
  });

  it('reports every wrong key, each in its place', () => {
    expect(readAssumeRoleSpec({ duration: 'soon', colour: 1, regoin: 'x' })).toEqual({
      ok: false,
      findings: [
        { path: ['role_arn'], message: 'this key is missing; add it', severity: 'error' },
        {
          path: ['duration'],
          message: 'this must be a duration from 15m to 12h',
          severity: 'error',
        },
        { path: ['colour'], message: 'unknown key; remove it', severity: 'error' },
        {
          path: ['regoin'],
          message: 'unknown key; did you mean region?',
          severity: 'error',
        },
      ],
    });
  });
});

describe('the identity that assumes a role', () => {
  const spec = { role_arn, duration: quarter };
  const region = 'us-east-1';

  it.each<[string, object, object]>([
    [
      'is the default one, with its token',
      {},
      { accessKeyId: 'AKIAUSUAL', secretAccessKey: 'usual-secret', sessionToken: 'usual-token' },
    ],
    [
      'is another one, without the token of the default one',
      { access_key_env: 'KEY', secret_key_env: 'SECRET' },
      { accessKeyId: 'AKIAOTHER', secretAccessKey: 'other-secret', sessionToken: null },
    ],
    [
      'is another one with its own token',
      { access_key_env: 'KEY', secret_key_env: 'SECRET', session_token_env: 'TOKEN' },
      { accessKeyId: 'AKIAOTHER', secretAccessKey: 'other-secret', sessionToken: 'other-token' },
    ],
    [
      'never uses the token of one identity for another',
      { secret_key_env: 'SECRET' },
      { accessKeyId: 'AKIAUSUAL', secretAccessKey: 'other-secret', sessionToken: null },
    ],
  ])('%s', (_, given, identity) => {
    expect(findBaseIdentity({ ...spec, ...given }, env)).toEqual({
      ok: true,
      spec: { ...identity, region },
    });
  });

  it('has no token where none is set', () => {
    expect(findBaseIdentity(spec, { ...usual, AWS_SESSION_TOKEN: '' })).toEqual({
      ok: true,
      spec: {
        accessKeyId: 'AKIAUSUAL',
        secretAccessKey: 'usual-secret',
        sessionToken: null,
        region,
      },
    });
  });

  it('reports every missing variable', () => {
    const message = (variable: string) =>
      `the environment variable ${variable} is not set; it must belong to the identity that assumes the role`;
    const named = { access_key_env: 'A', secret_key_env: 'B', session_token_env: 'C' };
    expect(findBaseIdentity({ ...spec, ...named }, { ...usual, B: '' })).toEqual({
      ok: false,
      findings: [
        { path: ['access_key_env'], message: message('A'), severity: 'error' },
        { path: ['secret_key_env'], message: message('B'), severity: 'error' },
        { path: ['session_token_env'], message: message('C'), severity: 'error' },
      ],
    });
  });

  it('reports an invalid region, which never becomes part of a host name', () => {
    expect(findBaseIdentity(spec, { ...usual, AWS_REGION: 'evil.example/' })).toEqual({
      ok: false,
      findings: [
        {
          path: ['region'],
          message: 'AWS_REGION or AWS_DEFAULT_REGION does not name a region; fix it, or add region',
          severity: 'error',
        },
      ],
    });
  });
});

describe('the region of a role', () => {
  const both = { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-2' };

  it.each<[string, { region?: string }, Record<string, string>, string]>([
    ['its own', { region: 'eu-west-3' }, both, 'eu-west-3'],
    ['that of the environment', {}, both, 'eu-west-1'],
    ['the default one of the environment', {}, { ...both, AWS_REGION: '' }, 'eu-west-2'],
    ['the built-in default', {}, {}, 'us-east-1'],
  ])('is %s', (_, spec, variables, region) => {
    expect(regionOf(spec, variables)).toBe(region);
  });
});
