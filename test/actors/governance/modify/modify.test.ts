import { describe, expect, it } from 'vitest';
import {
  compileModify,
  type Modify,
  ModifyError,
  type ModifyRules,
} from '../../../../src/actors/governance/modify/modify.ts';
import type { JsonObject, JsonValue } from '../../../../src/machines/json.ts';

type ArgumentRules = Extract<ModifyRules['tools'][string], { arguments: unknown }>['arguments'];

function compiled(rules: ModifyRules): Modify {
  const reading = compileModify(rules);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.modify;
}

const only = [{ tool: 'pay', index: 0 }];

/** Applies rules to the arguments of `pay`. */
function modified(args: object, ...rules: ArgumentRules) {
  return compiled({ tools: { pay: { arguments: rules, output: [] } } }).modifyArguments(
    'pay',
    args as JsonObject,
    only,
  );
}

function replaced(text: string, ...rules: { pattern: string; with: string }[]) {
  const output = rules.map((replace) => ({ replace }));
  return compiled({ tools: { pay: { arguments: [], output } } }).modifyOutput('pay', text);
}

const set = (path: string, value: JsonValue) => ({ path, set: value });
const remove = (path: string) => ({ path, remove: true as const });
const replace = (path: string, pattern: string, text: string) => ({
  path,
  replace: { pattern, with: text },
});

describe('a rule that sets', () => {
  it.each<[string, object, string, JsonValue, object]>([
    ['replaces a value', { a: 1 }, 'a', 2, { a: 2 }],
    ['replaces a value by one of another type', { a: { b: 1 } }, 'a', [null], { a: [null] }],
    ['adds a missing value', {}, 'a', 'x', { a: 'x' }],
    ['creates the missing objects of its path', {}, 'a.b.c', true, { a: { b: { c: true } } }],
    ['keeps the other keys', { a: { x: 1 }, y: 2 }, 'a.b', 3, { a: { x: 1, b: 3 }, y: 2 }],
    ['reaches into a list', { a: [{ n: 1 }, 5] }, 'a.0.n', 2, { a: [{ n: 2 }, 5] }],
    ['appends at the end of a list', { a: [1] }, 'a.1', 2, { a: [1, 2] }],
    ['appends an object to a list', { a: [] }, 'a.0.n', 2, { a: [{ n: 2 }] }],
    ['uses digits as a key of an object', { a: { 0: 'x' } }, 'a.0', 'y', { a: { 0: 'y' } }],
    ['creates objects and never lists', {}, 'a.0', 'x', { a: { 0: 'x' } }],
    ['reaches a key with a dot', { 'a.b': 1 }, 'a\\.b', 2, { 'a.b': 2 }],
    ['reaches a key with a backslash', { 'a\\': { b: 1 } }, 'a\\\\.b', 2, { 'a\\': { b: 2 } }],
  ])('%s', (_name, args, path, value, expected) => {
    expect(modified(args, set(path, value))).toEqual({ args: expected, applied: [1] });
  });

  it.each<[string, object, string, JsonValue]>([
    ['beyond the end of a list', { a: [1] }, 'a.2', 2],
    ['at a key that is no index of a list', { a: [1] }, 'a.b', 2],
    ['at an index in another notation', { a: [1] }, 'a.00', 2],
    ['at a negative index', { a: [1] }, 'a.-1', 2],
    ['at the length of a list', { a: [1] }, 'a.length', 2],
    ['through text', { a: 'text' }, 'a.b', 2],
    ['at a character of a string', { a: 'text' }, 'a.0', 2],
    ['through null', { a: null }, 'a.b', 2],
    ['where the value is already set', { a: { x: [1], y: 2 } }, 'a', { y: 2, x: [1] }],
  ])('does not apply %s', (_name, args, path, value) => {
    const result = modified(args, set(path, value));
    expect(result).toEqual({ args, applied: [] });
    expect(result.args).toBe(args);
  });

  it('gives every call its own copy of the value', () => {
    const rule = set('a', { list: [1] });
    const modify = compiled({ tools: { pay: { arguments: [rule], output: [] } } });
    const first = modify.modifyArguments('pay', {}, only).args as { a: { list: number[] } };
    first.a.list.push(2);
    expect(modify.modifyArguments('pay', {}, only).args).toEqual({ a: { list: [1] } });
    expect(rule).toEqual(set('a', { list: [1] }));
  });
});

describe('a rule that removes', () => {
  it('removes a key, and closes the gap in a list', () => {
    const rules = [remove('note'), remove('items.0'), remove('items.1.sku')];
    const args = { note: 'x', items: [1, 2, { sku: 3, n: 1 }] };
    expect(modified(args, ...rules)).toEqual({
      args: { items: [2, { n: 1 }] },
      applied: [1, 2, 3],
    });
  });

  it.each(['gone', 'a.gone', 'a.b.c', 'list.2', 'list.1', 'a.b.0'])(
    'does not apply at %s',
    (path) => {
      const args = { a: { b: 'text' }, list: [1] };
      expect(modified(args, remove(path)).args).toBe(args);
    },
  );
});

describe('a rule that replaces', () => {
  it('changes every match in a string', () => {
    const args = { to: ['ann@a.example, bob@b.example'] };
    const rule = replace('to.0', '([a-z]+)@(?P<host>[a-z.]+)', '${host}/$1 <$0> $$ ${2}');
    expect(modified(args, rule)).toEqual({
      args: {
        to: [
          'a.example/ann <ann@a.example> $ a.example, b.example/bob <bob@b.example> $ b.example',
        ],
      },
      applied: [1],
    });
  });

  it.each([5, true, null, { a: '5' }, ['5']])('does not change %j', (value) => {
    const args = { value };
    expect(modified(args, replace('value', '5|e', 'x'))).toEqual({ args, applied: [] });
  });

  it('does not apply to a missing value, without a match, or when nothing changes', () => {
    const args = { a: 'text' };
    const rules = [replace('b', 't', 'x'), replace('a', 'z', 'x'), replace('a', 't', '$0')];
    const result = modified(args, ...rules);
    expect(result.applied).toEqual([]);
    expect(result.args).toBe(args);
  });

  it('inserts nothing for an unmatched group, and a lone dollar unchanged', () => {
    expect(replaced('ab a', { pattern: 'a(b)?', with: '[$1]$-' })).toEqual({
      text: '[b]$- []$-',
      applied: [1],
    });
  });

  it('counts no character twice outside the basic plane', () => {
    expect(replaced('😀a😀', { pattern: 'a', with: '😎' }).text).toBe('😀😎😀');
  });
});

describe('several rules', () => {
  it('apply in order, each to the result of the one before', () => {
    const rules = [
      set('a', 'one'),
      replace('b', 'x', 'y'),
      replace('a', 'one', 'two'),
      remove('c'),
    ];
    expect(modified({ c: 1 }, ...rules)).toEqual({ args: { a: 'two' }, applied: [1, 3, 4] });
    const output = [
      { pattern: 'a', with: 'b' },
      { pattern: 'z', with: '' },
      { pattern: 'b+', with: 'c' },
    ];
    expect(replaced('aab', ...output)).toEqual({ text: 'c', applied: [1, 3] });
  });

  it('belong to one tool by its exact name', () => {
    const rules = { arguments: [set('a', 1)], output: [{ replace: { pattern: 'x', with: 'y' } }] };
    const modify = compiled({ tools: { pay: rules } });
    for (const tool of ['Pay', 'pay ', 'constructor', '__proto__', 'grant']) {
      expect(modify.modifyOutput(tool, 'x')).toEqual({ text: 'x', applied: [] });
    }
    expect(modify.modifyOutput('pay', 'x')).toEqual({ text: 'y', applied: [1] });
  });
});

describe('names that every object inherits', () => {
  it.each([
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'a.__proto__.x',
    'constructor.prototype.x',
  ])('become own properties at %s', (path) => {
    const { args } = modified({}, set(path, 'mine'));
    const [first = ''] = path.split('.');
    expect(Object.keys(args)).toEqual([first]);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    expect(JSON.stringify(args)).toBe(
      path.split('.').reduceRight((inner, key) => `{"${key}":${inner}}`, '"mine"'),
    );
  });

  it('cannot be removed or replaced', () => {
    const args = { a: {} };
    for (const path of ['toString', 'a.__proto__', 'a.constructor.name', '__proto__.toString']) {
      expect(modified(args, remove(path), replace(path, '.', 'x')).args).toBe(args);
    }
    expect({}.toString()).toBe('[object Object]');
  });

  it('are kept when the arguments contain them', () => {
    const args = JSON.parse('{"__proto__":{"x":"1"},"a":[{"__proto__":2}],"b":1}') as JsonObject;
    const { args: result } = modified(args, set('b', 2), replace('__proto__.x', '1', '3'));
    expect(JSON.stringify(result)).toBe('{"__proto__":{"x":"3"},"a":[{"__proto__":2}],"b":2}');
    expect(JSON.stringify(modified(args, remove('__proto__')).args)).toBe(
      '{"a":[{"__proto__":2}],"b":1}',
    );
  });
});

describe('a rule that cannot be applied', () => {
  const mebibyte = 1024 * 1024;
  const failure = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      return error;
    }
    return undefined;
  };

  it('throws when a string would exceed 1 MiB, and does not quote it', () => {
    const text = 'x'.repeat(2048);
    const rule = { pattern: 'x', with: 'secret'.repeat(200) };
    const onOutput = failure(() => replaced(text, { pattern: 'y', with: 'z' }, rule));
    expect(onOutput).toBeInstanceOf(ModifyError);
    expect(onOutput).toMatchObject({
      code: 'modify_failed',
      message: 'rule 2 on the output of pay failed: the text would be longer than 1 MiB',
    });
    expect(failure(() => modified({ text }, { path: 'text', replace: rule }))).toMatchObject({
      code: 'modify_failed',
      message: 'rule 1 on the arguments of pay failed: the text would be longer than 1 MiB',
    });
  });

  it('counts UTF-8 bytes, and accepts a string at the limit', () => {
    const half = 'é'.repeat(mebibyte / 2 - 1);
    expect(replaced(`${half}x`, { pattern: 'x', with: 'ab' }).text).toBe(`${half}ab`);
    expect(failure(() => replaced(`${half}x`, { pattern: 'x', with: 'abc' }))).toBeInstanceOf(
      ModifyError,
    );
  });

  it('times out for a string that takes too long, where every match scans the rest', () => {
    const text = 'a'.repeat(mebibyte);
    expect(failure(() => replaced(text, { pattern: 'a(?:.*x)?', with: 'b' }))).toMatchObject({
      code: 'modify_failed',
      message: 'rule 1 on the output of pay failed: it took longer than two seconds',
    });
  });

  it('accepts a longer string that it does not change', () => {
    const text = 'x'.repeat(2 * mebibyte);
    expect(replaced(text, { pattern: 'y', with: 'z' }).applied).toEqual([]);
  });
});
