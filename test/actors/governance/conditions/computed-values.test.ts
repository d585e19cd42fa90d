import { describe, expect, it } from 'vitest';
import { ConditionCompiler } from '../../../../src/actors/governance/conditions/condition.ts';
import { noFacts } from '../../../../src/actors/governance/policy/rule-lists.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

const parameters = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    count: { type: 'integer' },
    text: { type: 'string' },
    list: { type: 'array' },
    any: {},
  },
};

const compiler = new ConditionCompiler({ environment: {} });

function holds(expression: string, args: JsonObject) {
  const condition = compiler.compile(expression, parameters);
  return 'holds' in condition ? condition.holds({ tool: 'pay', args }, noFacts) : condition;
}

describe('a condition cannot be evaluated', () => {
  it.each<[string, string, JsonObject]>([
    ['a text that is not a number', 'double(args.text) > 1000.0', { text: 'NaN' }],
    ['an infinite text', 'double(args.text) <= 50.0', { text: '-Infinity' }],
    ['a hexadecimal text', 'int(args.text) <= 50', { text: '0X10' }],
    ['an empty text', 'int(args.text) <= 50', { text: '' }],
    ['a division of zero by zero', 'args.amount / args.amount > 1.0', { amount: 0 }],
    ['a large double as an integer', 'int(args.amount) < 100', { amount: -1e99 }],
    ['the smallest integer, negated', '-int(args.text) > 0', { text: '-9223372036854775808' }],
    ['an integer that doubles do not have', 'int(args.text) > 5', { text: '9007199254740993' }],
    ['a product beyond 2^53', 'args.count * args.count > 0', { count: 2 ** 53 - 1 }],
    [
      'a time after a long duration',
      'now + duration(args.text) > timestamp("2030-01-01T00:00:00Z")',
      { text: '99999999999999h' },
    ],
    ['a duration above 10,000 years', 'duration(args.text) > now - now', { text: '9e9h' }],
    ['a list as the key of a map', 'args.any in {"gold": true}', { any: ['gold'] }],
    ['a list as an index', '{"gold": true}[args.any]', { any: ['gold'] }],
    ['a value inside a macro', 'args.list.exists(x, double(x) > 5.0)', { list: ['NaN'] }],
    ['a value that a macro computed', 'args.list.map(x, x / x).exists(y, y > 5)', { list: [0] }],
  ])('with %s', (_, expression, args) => {
    expect(holds(expression, args)).toBeNull();
  });

  it('unless another part decides', () => {
    expect(holds('double(args.text) > 5.0 || args.count == 1', { text: 'NaN', count: 1 })).toBe(
      true,
    );
  });
});

describe('a condition is refused', () => {
  it.each([
    ['1u < 2u', 'unsigned numbers are not supported; use int', 0],
    ['uint(args.count) > uint(5)', 'unsigned numbers are not supported; use int', 0],
    ['"a" in {args.text: 1}', 'the keys of a map must be different texts in quotes', 7],
    ['{"a": 1, "a": 2}["a"] == 1', 'the keys of a map must be different texts in quotes', 0],
    ['{1: 2}[1] == 2', 'the keys of a map must be different texts in quotes', 0],
  ])('with %s', (expression, message, at) => {
    expect(holds(expression, {})).toEqual({ message, at });
  });
});

it.each<[string, JsonObject]>([
  ['double(args.text) > 2.4', { text: '2.50' }],
  ['int(args.text) == -7', { text: '-7' }],
  ['args.amount in [1, 2.5]', { amount: 2.5 }],
  ['{"gold": 5}[args.text] == 5', { text: 'gold' }],
  ['args.list.all(x, x < 5) && args.list.filter(x, x > 1).size() == 1', { list: [1, 2] }],
  ['now + duration("24h") > now', {}],
])('%s holds', (expression, args) => {
  expect(holds(expression, args)).toBe(true);
});
