import { describe, expect, it } from 'vitest';
import {
  checkStaticSpec,
  missingSource,
  readStaticSpec,
  type StaticSpec,
} from '../../../../src/actors/governance/credentials/static-spec.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

describe('the spec of a static credential', () => {
  it.each<[string, JsonObject, StaticSpec]>([
    [
      'in its long form',
      { env: { A: { secret: 'SHOP' }, B: { from_env: 'KEY' } } },
      [
        {
          name: 'A',
          from: 'SHOP',
          isSecret: true,
          path: ['env', 'A'],
          source: ['env', 'A', 'secret'],
        },
        {
          name: 'B',
          from: 'KEY',
          isSecret: false,
          path: ['env', 'B'],
          source: ['env', 'B', 'from_env'],
        },
      ],
    ],
    [
      'in its short form with a secret',
      { name: 'A', secret: 'SHOP' },
      [{ name: 'A', from: 'SHOP', isSecret: true, path: ['name'], source: ['secret'] }],
    ],
    [
      'in its short form with a variable',
      { name: 'A', from_env: 'KEY' },
      [{ name: 'A', from: 'KEY', isSecret: false, path: ['name'], source: ['from_env'] }],
    ],
  ])('is read %s', (_, written, spec) => {
    expect(readStaticSpec(written)).toEqual({ ok: true, spec });
  });

  it.each<[string, JsonObject, [string[], string][]]>([
    [
      'a source that is not a string, and is not also reported as missing',
      { name: 'A', secret: 7 },
      [[['secret'], 'this must be text; put it in quotes']],
    ],
    [
      'two sources of which one has an invalid name',
      { name: 'A', secret: 'SHOP', from_env: '${KEY}' },
      [[['from_env'], 'this must be the bare name of an environment variable, without ${}']],
    ],
    [
      'two sources in the short form',
      { name: 'A', secret: 'SHOP', from_env: 'KEY' },
      [[['secret'], 'there are two sources; keep secret or from_env']],
    ],
    [
      'a name that is not a string',
      { name: 7, secret: 'SHOP' },
      [[['name'], 'this must be text; put it in quotes']],
    ],
    [
      'unknown keys, in their order',
      { name: 'A', secret: 'SHOP', secrte: 'SHOP', colour: 'red' },
      [
        [['secrte'], 'unknown key; did you mean secret?'],
        [['colour'], 'unknown key; remove it'],
      ],
    ],
  ])('is refused with %s', (_, written, findings) => {
    expect(readStaticSpec(written)).toEqual({
      ok: false,
      findings: findings.map(([path, message]) => ({ path, message, severity: 'error' })),
    });
  });

  it('is checked variable by variable', () => {
    const variable = (name: string, from: string, isSecret = false) => ({
      ...{ name, from, isSecret },
      path: [name],
      source: [name, from],
    });
    const spec = [
      variable('FINE', 'LONG'),
      variable('PATH', 'SHORT'),
      variable('GONE', 'UNSET', true),
    ];
    expect(checkStaticSpec(spec, { LONG: 'abcdef', SHORT: 'abcde' })).toEqual([
      {
        path: ['PATH'],
        message: 'PATH affects how scripts run and is not passed on; use another name',
        severity: 'error',
      },
      {
        path: ['PATH', 'SHORT'],
        message:
          'the value of SHORT is shorter than 6 characters and is not redacted from results; use a longer one',
        severity: 'warning',
      },
      {
        path: ['GONE', 'UNSET'],
        message:
          'there is no secret UNSET: set it with holdpoint secret set UNSET; it must hold the value of GONE',
        severity: 'error',
      },
    ]);
  });
});

it('explains how to set an unset source', () => {
  expect(missingSource({ from: 'KEY', isSecret: false })).toBe(
    'the environment variable KEY is not set',
  );
  expect(missingSource({ from: 'KEY', isSecret: true })).toBe(
    'there is no secret KEY: set it with holdpoint secret set KEY',
  );
});
