import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../../src/actors/ports/tool.ts';
import {
  checkSchema,
  compileSchema,
  SchemaError,
  validateArguments,
} from '../../../../src/actors/tools/skills/argument-schema.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

const schema = compileSchema({
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'refund',
  type: 'object',
  properties: {
    order_id: { type: 'string', pattern: '^A-' },
    speed: { enum: ['slow', 'fast'] },
    lines: { type: 'array', items: { type: 'object', required: ['sku'] } },
  },
  required: ['order_id'],
  additionalProperties: false,
});

describe('validateArguments', () => {
  it('accepts valid arguments and does not change them', () => {
    const args: JsonObject = Object.freeze({ order_id: 'A-1' });
    expect(() => validateArguments('refund', schema, args)).not.toThrow();
    expect(args).toEqual({ order_id: 'A-1' });
  });

  it.each<[JsonObject, string]>([
    [{}, 'refund: argument order_id is missing'],
    [{ order_id: 7 }, 'refund: argument order_id must be string'],
    [{ order_id: 'B' }, 'refund: argument order_id must match pattern "^A-"'],
    [{ order_id: 'A-1', extra: 1 }, 'refund: argument extra is not known'],
    [{ order_id: 'A-1', speed: 'x' }, 'refund: argument speed must be one of slow, fast'],
    [{ order_id: 'A-1', lines: [{ sku: 1 }, {}] }, 'refund: argument lines.1.sku is missing'],
    [JSON.parse('{"order_id": "A-1", "__proto__": 1}'), 'refund: argument __proto__ is not known'],
  ])('refuses %j', (args, message) => {
    expect(() => validateArguments('refund', schema, args)).toThrow(new ToolError(message));
  });

  it('does not take an inherited property for an argument', () => {
    const inherited = compileSchema({ type: 'object', required: ['toString'] });
    expect(() => validateArguments('t', inherited, {})).toThrow('t: argument toString is missing');
  });

  it('compiles the same $id again', () => {
    expect(() => compileSchema({ $id: 'refund', type: 'object' })).not.toThrow();
  });

  it.each<[JsonObject]>([
    [{ $async: true }],
    [{ $ref: 'http://127.0.0.1:9/x' }],
    [{ pattern: '(' }],
  ])('refuses the schema %j', (bad) => {
    expect(() => compileSchema(bad)).toThrow(SchemaError);
    expect(() => checkSchema(bad)).toThrow(SchemaError);
  });

  it('matches a pattern in linear time, and once for each item of a list', () => {
    const slugs = compileSchema({
      type: 'object',
      properties: {
        slug: { type: 'string', pattern: '^([a-z0-9]+-?)+$' },
        tags: { type: 'array', uniqueItems: true },
      },
      patternProperties: { '^(x|xx)+$': { type: 'string' } },
    });
    const slug = `${'a'.repeat(60)}!`;
    const tags = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    const began = performance.now();
    expect(() => validateArguments('t', slugs, { slug })).toThrow(
      't: argument slug must match pattern "^([a-z0-9]+-?)+$"',
    );
    expect(() => validateArguments('t', slugs, { [`${'x'.repeat(60)}!`]: 1, tags })).not.toThrow();
    expect(() => validateArguments('t', slugs, { xxx: 1 })).toThrow('argument xxx must be string');
    expect(() =>
      validateArguments('t', slugs, {
        tags: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      }),
    ).toThrow('t: argument tags must NOT have duplicate items');
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it.each<[JsonObject, string]>([
    [
      { properties: { a: { pattern: 'a(?=b)' } } },
      'the pattern has a lookahead, which RE2 cannot match in linear time; rewrite it without (?= or (?! (a(?=b))',
    ],
    [
      { patternProperties: { 'a{1,4000}': {} } },
      'the pattern has a repetition count that RE2 does not take; count to 1000 at most (a{1,4000})',
    ],
    [
      { type: 'strin' },
      'type must be one of array, boolean, integer, null, number, object, string',
    ],
    [{ properties: { a: { minLength: -1 } } }, 'properties.a.minLength must be >= 0'],
    [{ required: 'a' }, 'required must be array'],
  ])('explains the error in the written schema %j', (bad, message) => {
    expect(() => checkSchema(bad)).toThrow(new SchemaError(message));
  });
});
