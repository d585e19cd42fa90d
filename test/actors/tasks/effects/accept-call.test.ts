import { describe, expect, it } from 'vitest';
import { argsDigest } from '../../../../src/actors/governance/policy/args-digest.ts';
import { acceptCall } from '../../../../src/actors/tasks/effects/accept-call.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';

const ids = { next: () => 'call-1' };
const accept = (tool: unknown, args: JsonValue) => acceptCall({ tool: tool as string, args }, ids);
const empty = { args: {}, argsSha256: argsDigest('pay', {}) };

function nested(levels: number): JsonValue {
  let value: JsonValue = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe('a call from a model', () => {
  it('gets an id and the digest of its arguments, which are made well-formed', () => {
    expect(accept('pay', { note: '\ud800', ['k\udc00']: [1] })).toEqual({
      id: 'call-1',
      tool: 'pay',
      args: { note: '\ufffd', 'k\ufffd': [1] },
      argsSha256: argsDigest('pay', { note: '\ufffd', 'k\ufffd': [1] }),
    });
  });

  it('keeps a key that is named like a prototype, and changes no prototype', () => {
    const args = JSON.parse('{"__proto__": {"polluted": true}}') as JsonValue;
    const call = accept('pay', args);
    expect(JSON.stringify(call.args)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each<[string, JsonValue]>([
    ['a list', [1]],
    ['a text', 'x'],
    ['nothing', null],
    ['a number', 5],
  ])('is refused with %s for arguments', (_name, args) => {
    const fault = 'the arguments of pay must be an object';
    expect(accept('pay', args)).toEqual({ id: 'call-1', tool: 'pay', ...empty, fault });
  });

  it('may nest its arguments 64 levels deep and no deeper', () => {
    expect(accept('pay', nested(64)).fault).toBeUndefined();
    const fault = 'the arguments of pay are nested deeper than 64 levels';
    expect(accept('pay', nested(65))).toEqual({ id: 'call-1', tool: 'pay', ...empty, fault });
    expect(accept('pay', nested(100_000)).fault).toBe(fault);
  });

  it.each(['1e400', '-1e400', '9007199254740993', '-9007199254740992'])(
    'may contain no number that JSON cannot carry exactly: %s',
    (number) => {
      const args = JSON.parse(`{"order":{"amounts":[1,${number}]}}`) as JsonValue;
      const fault =
        'the arguments of pay hold a number beyond ±(2^53 - 1), which is not exact; send it as a string';
      expect(accept('pay', args)).toEqual({ id: 'call-1', tool: 'pay', ...empty, fault });
    },
  );

  it.each([
    ['{"account_id": 1, "amount": ', 'are not valid JSON: cut off at character 28'],
    ['{"note": "Dear', 'are not valid JSON: cut off at character 14'],
    ['{"amount": 1,}', 'are not valid JSON: wrong at character 13'],
    [
      '{"amount": 5, "to": {}, "amount": 500}',
      'are not plain: a key is repeated in one object; send each key once',
    ],
    [
      '{"rate": 0.1000000000000000055511}',
      'are not exact: the number 0.1000000000000000055511 cannot be read without changing it; send it as a string',
    ],
  ])('is refused with the text %s', (written, why) => {
    const call = acceptCall({ tool: 'pay', args: written, written }, ids);
    const fault = `the arguments of pay ${why}`;
    expect(call).toEqual({ id: 'call-1', tool: 'pay', ...empty, fault });
  });

  it('is accepted with arguments exactly as they were written', () => {
    const written = '{"rate": 0.10, "amount": 1e2, "of": 9007199254740991}';
    const args = { rate: 0.1, amount: 100, of: 9007199254740991 };
    expect(acceptCall({ tool: 'pay', args, written }, ids).fault).toBeUndefined();
    expect(acceptCall({ tool: 'pay', args: {}, written: '' }, ids).fault).toBeUndefined();
  });

  it('is not run from a turn that the provider cut', () => {
    const call = acceptCall({ tool: 'pay', args: { amount: 1 } }, ids, 'length');
    const fault =
      "pay was not run, since the model's answer was cut off by its limit of length; request less at once";
    expect(call).toEqual({ id: 'call-1', tool: 'pay', ...empty, fault });
  });

  it('may have arguments of 1 MiB in bytes', () => {
    const filling = (bytes: number) => ({ a: 'é'.repeat((bytes - '{"a":""}'.length) / 2) });
    expect(accept('pay', filling(1024 * 1024)).fault).toBeUndefined();
    expect(accept('pay', filling(1024 * 1024 + 2)).fault).toBe(
      'the arguments of pay are larger than 1 MiB',
    );
  });

  it('has a short and well-formed name', () => {
    expect(accept('x'.repeat(3_000_000), {}).tool).toBe('x'.repeat(128));
    expect(accept('a\ud800', {}).tool).toBe('a\ufffd');
    expect(accept(5, {}).tool).toBe('unnamed');
    expect(accept(undefined, {}).tool).toBe('unnamed');
  });
});
