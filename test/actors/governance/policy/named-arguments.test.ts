import { describe, expect, it } from 'vitest';
import {
  listsArguments,
  namesEveryArgument,
} from '../../../../src/actors/governance/policy/named-arguments.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

const text = { type: 'string' };
const file = { type: 'object', properties: { path: text, mode: {} } };
const schema: JsonObject = {
  type: 'object',
  additionalProperties: true,
  properties: {
    ...{ command: text, file, free: { type: 'object' }, any: {} },
    files: { type: 'array', items: { $ref: '#/$defs/file' } },
  },
  patternProperties: { '^x-': {} },
  anyOf: [{ properties: { other: text } }],
  $defs: { file: { allOf: [file] } },
};

describe('the named arguments of a schema', () => {
  it.each<[boolean, JsonObject]>([
    [true, {}],
    [true, { command: 'ls', other: 'x' }],
    [true, { file: { path: 'a', mode: { deep: 1 } }, free: { any: 1 }, any: [{ x: 1 }] }],
    [true, { files: [{ path: 'a' }, { mode: 1 }] }],
    [false, { command: 'ls', env: {} }],
    [false, { 'x-env': 1 }],
    [false, { Command: 'ls' }],
    [false, { toString: 'ls' }],
    [false, JSON.parse('{"__proto__": 1}') as JsonObject],
    [false, { file: { path: 'a', link: 'b' } }],
    [false, { files: [{ path: 'a' }, { path: 'b', link: 'c' }] }],
  ])('cover a call: %s for %j', (expected, args) => {
    expect(namesEveryArgument(schema, args)).toBe(expected);
  });

  it.each<[boolean, JsonObject]>([
    [true, schema],
    [true, { type: 'object', properties: {}, additionalProperties: false }],
    [true, { oneOf: [{ properties: { a: {} } }] }],
    [false, {}],
    [false, { type: 'object', properties: {} }],
    [false, { $ref: 'https://example.com/schema' }],
  ])('are listed: %s for %j', (expected, given) => {
    expect(listsArguments(given)).toBe(expected);
  });
});
