import { describe, expect, it } from 'vitest';
import { argumentsDigest } from '../../../../src/actors/governance/policy/arguments-digest.ts';
import { acceptCall } from '../../../../src/actors/tasks/effects/accept-call.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';

const ids = { next: () => 'call-1' };
const accept = (tool: unknown, args: JsonValue) => acceptCall({ tool: tool as string, args }, ids);
const empty = { args: {}, argsSha256: argumentsDigest({}) };

function nested(levels: number): JsonValue {
  let value: JsonValue = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe('a call a model asks for', () => {
  it('gets an id and the digest of its arguments, which are made well-formed', () => {
    expect(accept('pay', { note: '\ud800', ['k\udc00']: [1] })).toEqual({
      id: 'call-1',
      tool: 'pay',
      args: { note: '\ufffd', 'k\ufffd': [1] },
      argsSha256: argumentsDigest({ note: '\ufffd', 'k\ufffd': [1] }),
    });
  });

  it('keeps a key that is named like a prototype, and touches none', () => {
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
  ])('is at fault with %s for arguments', (_name, args) => {
    const fault = 'the arguments of pay must be an object';
    expect(accept('pay', args)).toEqual({ id: 'call-1', tool: 'pay', ...empty, fault });
  });

  it('may nest its arguments 64 levels deep and no deeper', () => {
    expect(accept('pay', nested(64)).fault).toBeUndefined();
    const fault = 'the arguments of pay are nested deeper than 64 levels';
    expect(accept('pay', nested(65))).toEqual({ id: 'call-1', tool: 'pay', ...empty, fault });
    expect(accept('pay', nested(100_000)).fault).toBe(fault);
  });

  it.each(['1e400', '-1e400'])('may hold no number that JSON cannot carry: %s', (number) => {
    const args = JSON.parse(`{"order":{"amounts":[1,${number}]}}`) as JsonValue;
    const fault =
      'the arguments of pay hold a number that is too large for JSON; numbers end at 1.8e308';
    expect(accept('pay', args)).toEqual({ id: 'call-1', tool: 'pay', ...empty, fault });
  });

  it('may have arguments of 1 MiB, counted in bytes', () => {
    const filling = (bytes: number) => ({ a: 'é'.repeat((bytes - '{"a":""}'.length) / 2) });
    expect(accept('pay', filling(1024 * 1024)).fault).toBeUndefined();
    expect(accept('pay', filling(1024 * 1024 + 2)).fault).toBe(
      'the arguments of pay are larger than 1 MiB',
    );
  });

  it('has a name that is short and well-formed', () => {
    expect(accept('x'.repeat(3_000_000), {}).tool).toBe('x'.repeat(128));
    expect(accept('a\ud800', {}).tool).toBe('a\ufffd');
    expect(accept(5, {}).tool).toBe('unnamed');
    expect(accept(undefined, {}).tool).toBe('unnamed');
  });
});
