import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argumentChanges } from '../../../../src/actors/governance/policy/argument-changes.ts';
import type { JsonObject, JsonValue } from '../../../../src/machines/json.ts';

/** Characters of all changes of a call as JSON, each character escaped as six. */
const longestKept = 6 * (32 * 256 + 8_192) + 32 * 120;

const anyArguments = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;

/** What a model may ask for, up to 1 MiB and 64 levels, and what a rule makes of it. */
const hostile = new Map<string, [JsonObject, JsonObject]>([
  ['one text of 10 MB', [{ a: 'x'.repeat(10_000_000) }, { a: 1 }]],
  ['100,000 names', [Object.fromEntries(numbers(100_000).map((n) => [`n${n}`, n])), {}]],
  ['a list that loses its first', [{ a: numbers(100_000) }, { a: numbers(100_000).slice(1) }]],
  ['64 levels with long names', [nested('n'.repeat(15_000), 1), nested('n'.repeat(15_000), 2)]],
  ['characters that JSON escapes', [{ ['\0'.repeat(250)]: '\uD800'.repeat(170) }, {}]],
  [
    'names of the language',
    [JSON.parse('{"__proto__": {"__proto__": 1}, "toString": 1}') as JsonObject, {}],
  ],
]);

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

function nested(name: string, value: number): JsonObject {
  let made: JsonObject = { [name]: value };
  for (let level = 1; level < 64; level += 1) made = { [name]: made };
  return made;
}

const asItIs = (text: string): string => text;

describe('argumentChanges', () => {
  it('lists changed, added and removed values, by path', () => {
    const before = { amount: 899, note: 'x', to: { iban: 'A', name: 'Ann' }, items: [1, 2] };
    const after = { amount: 89.9, to: { iban: 'A', name: 'Bea' }, items: [1, 2, 3], dry: true };
    expect(argumentChanges(before, after, asItIs)).toEqual([
      { path: 'amount', before: '899', after: '89.9' },
      { path: 'note', before: '"x"' },
      { path: 'to.name', before: '"Ann"', after: '"Bea"' },
      { path: 'items.2', after: '3' },
      { path: 'dry', after: 'true' },
    ]);
  });

  it('treats names of the language like any other argument', () => {
    const after = JSON.parse('{"__proto__": 1}') as JsonObject;
    expect(argumentChanges({}, { constructor: 1 }, asItIs)).toEqual([
      { path: 'constructor', after: '1' },
    ]);
    expect(argumentChanges({}, after, asItIs)).toEqual([{ path: '__proto__', after: '1' }]);
  });

  it('contains no secret in any form, and nothing that could not be searched', () => {
    const secret = 'a"b\\c';
    const scrub = (text: string): string => text.replaceAll(secret, '[secret]');
    expect(argumentChanges({ key: secret }, { key: { of: [secret] } }, scrub)).toEqual([
      { path: 'key', before: '"[secret]"', after: '{"of":["[secret]"]}' },
    ]);
    expect(argumentChanges({ [secret]: { [secret]: 1 } }, {}, scrub)).toEqual([
      { path: '[secret]', before: '{"[secret]":1}' },
    ]);
    // Cut in the middle of a secret, it would no longer be found.
    const name = `${'n'.repeat(254)}${secret}`;
    expect(argumentChanges({ [name]: 1 }, {}, scrub)).toEqual([
      { path: `[${name.length} characters]`, before: '1' },
    ]);
    const broken = (): string => {
      throw new Error('no rules');
    };
    const leftOut = '[omitted: the search for secrets failed]';
    expect(argumentChanges({ a: secret }, {}, broken)).toEqual([
      { path: leftOut, before: leftOut },
    ]);
  });

  it('states the length of a long string, and is bounded for any request of a model', () => {
    const long = 'x'.repeat(2_000);
    expect(argumentChanges({ a: long }, { a: 1 }, asItIs)).toEqual([
      { path: 'a', before: '[2002 characters]', after: '1' },
    ]);
  });

  it('shows a value of 1,024 characters and a path of 256, and only the length of longer ones', () => {
    const name = 'n'.repeat(256);
    const value = 'x'.repeat(1_022);
    expect(argumentChanges({ [name]: value }, {}, asItIs)).toEqual([
      { path: name, before: `"${value}"` },
    ]);
    expect(argumentChanges({ [`${name}n`]: `${value}x` }, {}, asItIs)).toEqual([
      { path: '[257 characters]', before: '[1025 characters]' },
    ]);
  });

  it('shows 8,192 characters of all values together, and shorter values after a long one', () => {
    const value = 'x'.repeat(1_022);
    const before = Object.fromEntries(numbers(7).map((n) => [`v${n}`, value]));
    const rest = { most: 'y'.repeat(1_021), long: 'yy', fits: 1, over: 2 };
    const changes = argumentChanges({ ...before, ...rest }, {}, asItIs);
    expect(changes).toEqual([
      ...numbers(7).map((n) => ({ path: `v${n}`, before: `"${value}"` })),
      { path: 'most', before: `"${rest.most}"` },
      { path: 'long', before: '[4 characters]' },
      { path: 'fits', before: '1' },
      { path: 'over', before: '[1 characters]' },
    ]);
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['a list that becomes a map', [1], { 0: 1 }],
    ['a map that becomes a list', { 0: 1 }, [1]],
    ['a missing value that becomes a map', null, { b: 1 }],
    ['a map that is removed', { b: 1 }, null],
  ])('reports %s as a whole', (_, before, after) => {
    expect(argumentChanges({ a: before }, { a: after }, asItIs)).toEqual([
      { path: 'a', before: JSON.stringify(before), after: JSON.stringify(after) },
    ]);
  });

  it.each([...hostile])('keeps a bounded part of %s', (_, [before, after]) => {
    const changes = argumentChanges(before, after, asItIs);
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.length).toBeLessThanOrEqual(32);
    expect(JSON.stringify(changes).length).toBeLessThan(longestKept);
  });

  it('scrubs only the part that it keeps, for any size', () => {
    const wide = hostile.get('100,000 names')![0];
    let seen = 0;
    argumentChanges(wide, {}, (text) => {
      seen += text.length;
      return text;
    });
    expect(seen).toBeLessThan(3 * longestKept);
  });

  it('keeps a bounded part of any arguments', () => {
    fc.assert(
      fc.property(anyArguments, anyArguments, (before, after) => {
        const changes = argumentChanges(before, after, asItIs);
        expect(changes.length).toBeLessThanOrEqual(32);
        expect(JSON.stringify(changes).length).toBeLessThan(longestKept);
      }),
    );
  });

  it('is empty between a value and itself', () => {
    fc.assert(
      fc.property(anyArguments, (args) => {
        expect(argumentChanges(args, structuredClone(args), asItIs)).toEqual([]);
      }),
    );
  });
});
