import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConditionCompiler } from '../../../../src/actors/governance/conditions/condition.ts';
import { noFacts } from '../../../../src/actors/governance/policy/rule-lists.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { runs } from '../../../helpers/runs.ts';

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

describe('a condition that cannot be evaluated', () => {
  it.each<[string, string, JsonObject]>([
    ['a string that is not a number', 'double(args.text) > 1000.0', { text: 'NaN' }],
    ['an infinite string', 'double(args.text) <= 50.0', { text: '-Infinity' }],
    ['a hexadecimal string', 'int(args.text) <= 50', { text: '0X10' }],
    ['an empty string', 'int(args.text) <= 50', { text: '' }],
    ['a division of zero by zero', 'args.amount / args.amount > 1.0', { amount: 0 }],
    ['a large double as an integer', 'int(args.amount) < 100', { amount: -1e99 }],
    ['the smallest integer, negated', '-int(args.text) > 0', { text: '-9223372036854775808' }],
    [
      'an integer that doubles cannot represent',
      'int(args.text) > 5',
      { text: '9007199254740993' },
    ],
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
  ])('has %s', (_, expression, args) => {
    expect(holds(expression, args)).toBeNull();
  });

  it('is ignored when another part decides', () => {
    expect(holds('double(args.text) > 5.0 || args.count == 1', { text: 'NaN', count: 1 })).toBe(
      true,
    );
  });
});

describe('a value of another type', () => {
  const kinds = {
    string: fc.string(),
    number: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    bool: fc.boolean(),
    null: fc.constant(null),
    list: fc.array(fc.jsonValue()),
    map: fc.dictionary(fc.string(), fc.jsonValue()),
  };
  type Kind = keyof typeof kinds;
  const operations: [expression: string, kind: Kind][] = [
    ...['==', '!='].flatMap((operator): [string, Kind][] => [
      [`args.any ${operator} "x"`, 'string'],
      [`"x" ${operator} args.any`, 'string'],
      [`args.any ${operator} 5`, 'number'],
      [`args.any ${operator} 5.5`, 'number'],
      [`args.any ${operator} true`, 'bool'],
      [`args.any ${operator} ["x"]`, 'list'],
      [`args.any ${operator} {"a": 1}`, 'map'],
    ]),
    ...['<', '<=', '>', '>='].map((operator): [string, Kind] => [
      `args.any ${operator} 5`,
      'number',
    ]),
    ...['+', '-', '*', '/', '%'].map((operator): [string, Kind] => [
      `args.any ${operator} 5 > 1`,
      'number',
    ]),
    ['-args.any > 1', 'number'],
    ['!args.any', 'bool'],
    ['args.any && true', 'bool'],
    ['args.any || false', 'bool'],
    ['args.any ? true : false', 'bool'],
    ['args.any in ["x", "y"]', 'string'],
    ['args.any in [1, 2]', 'number'],
    ['has(args.any.force)', 'map'],
    ['!has(args.any.force)', 'map'],
    ['has(args.any.force.deep)', 'map'],
    ['args.any.force == true', 'map'],
    ['args.any["force"] == true', 'map'],
    ['args.any[0] == true', 'list'],
    ['args.any.all(x, x == "x")', 'list'],
    ['args.any.exists(x, x == "x")', 'list'],
    ['args.any.exists_one(x, x == "x")', 'list'],
    ['args.any.map(x, x).size() > 0', 'list'],
    ['args.any.filter(x, x == "x").size() > 0', 'list'],
    ...['contains', 'startsWith', 'endsWith', 'matches'].map((name): [string, Kind] => [
      `args.any.${name}("x")`,
      'string',
    ]),
    ['args.any.lowerAscii() == "x"', 'string'],
    ['args.any.split(",").size() > 1', 'string'],
    ['path.under(args.any, "/safe")', 'string'],
    ['timestamp(args.any) < now', 'string'],
    ['duration(args.any) < duration("1h")', 'string'],
  ];

  it.each(operations)('is undecided: %s', (expression, kind) => {
    const others = Object.entries(kinds).flatMap(([name, values]) =>
      name === kind ? [] : [values],
    );
    fc.assert(
      fc.property(fc.oneof(...others), (any) => {
        const args = { any } as JsonObject;
        expect([holds(expression, args), holds(expression, args)]).toEqual([null, null]);
      }),
      { numRuns: runs(100) },
    );
  });

  it.each<[string, JsonObject]>([
    ['!has(args.any.o.force)', { any: { o: 5 } }],
    ['!has(args.any.o.force)', { any: { o: [{ force: true }] } }],
    ['!has(args.any.o.force) || !args.any.o.force', { any: { o: 'force' } }],
    ['"rm" in args.any', { any: 'rm' }],
    ['"rm" in args.any', { any: ['ls', ['rm']] }],
    ['"force" in args.any', { any: [{ force: 1 }] }],
    ['args.any == ["a"]', { any: [['a']] }],
    ['args.any == {"a": true}', { any: { a: 'true' } }],
    ['args.list.exists(t, !t.endsWith("@x.org"))', { list: [['e@evil.org']] }],
  ])('is undecided inside another value: %s', (expression, args) => {
    expect(holds(expression, args)).toBeNull();
  });

  it.each<[string, JsonObject, boolean]>([
    ['args.any == null', { any: 5 }, false],
    ['args.any != null', { any: 'x' }, true],
    ['args.any == 5', { any: 5.0 }, true],
    ['args.any == ["a", "b"]', { any: ['a'] }, false],
    ['args.any == {"a": 1}', { any: { b: 'x' } }, false],
    ['args.any in ["x", 1]', { any: 'x' }, true],
    ['"a" in args.any', { any: [] }, false],
    ['"a" in args.any', { any: { a: 1 } }, true],
    ['"a" in args.any', { any: ['a', 5] }, true],
    ['has(args.any.force)', { any: {} }, false],
    ['has(args.any.force)', { any: { force: null } }, true],
    ['args.list.exists(x, x == "a")', { list: [5, 'a'] }, true],
  ])('is no error: %s', (expression, args, expected) => {
    expect([holds(expression, args), holds(expression, args)]).toEqual([expected, expected]);
  });
});

describe('path.under', () => {
  it.each<[string, string, boolean | null]>([
    ['/safe', '/safe', true],
    ['/safe/a/b', '/safe', true],
    ['//safe/./a', '/safe/', true],
    ['/safety', '/safe', false],
    ['/etc/passwd', '/safe', false],
    ['/anything', '/', true],
    ['/safe/../etc', '/safe', null],
    ['/safe/..', '/safe', null],
    ['safe/a', '/safe', null],
    ['~/a', '/safe', null],
    ['', '/safe', null],
    ['/safe/%2e%2e/etc', '/safe', null],
    ['/safe\\..\\etc', '/safe', null],
    ['/safe/a\u0000', '/safe', null],
    ['/safe/a', 'safe', null],
  ])('of %j below %j is %s', (text, base, expected) => {
    expect(holds(`path.under(args.text, ${JSON.stringify(base)})`, { text })).toBe(expected);
  });
});

describe('the budget of an evaluation', () => {
  const text = ',a'.repeat(512 * 1024);

  it.each([
    'args.text.split(",").exists(t, t == "zz")',
    '(args.text + args.text + args.text + args.text).size() > 5',
    'args.text.split(",").map(t, t + "x").join("").size() > 5',
    'args.list.exists(t, path.under(args.text, "/safe"))',
  ])('stops %s of 1 MiB', (expression) => {
    const list = Array.from({ length: 1_000 }, () => 'a');
    expect(holds(expression, { text, list })).toBeNull();
  });

  it('is enough for a few searches in 1 MiB, every time', () => {
    const expression = '!args.text.contains("rm") && !args.text.matches("x{3}")';
    const found = Array.from({ length: 20 }, () => holds(expression, { text }));
    expect(found).toEqual(Array.from({ length: 20 }, () => true));
  });
});

describe('a refused condition', () => {
  it.each([
    ['1u < 2u', 'unsigned numbers are not supported; use int', 0],
    ['uint(args.count) > uint(5)', 'unsigned numbers are not supported; use int', 0],
    ['"a" in {args.text: 1}', 'the keys of a map must be different texts in quotes', 7],
    ['{"a": 1, "a": 2}["a"] == 1', 'the keys of a map must be different texts in quotes', 0],
    ['{1: 2}[1] == 2', 'the keys of a map must be different texts in quotes', 0],
  ])('has %s', (expression, message, at) => {
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
])('the condition %s is true', (expression, args) => {
  expect(holds(expression, args)).toBe(true);
});
