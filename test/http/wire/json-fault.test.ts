import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFault as faultOf, measureBody } from '../../../src/http/wire/json-fault.ts';

const jsonFault = (text: string) => faultOf(measureBody(text));

const tooDeep = 'the JSON is nested deeper than 64 levels';
const tooMany = 'the JSON has more than 100000 keys';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function keysOf(count: number): string {
  return JSON.stringify(
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, '":{'])),
  );
}

describe('the nesting of a JSON text', () => {
  it.each([
    ['64 lists', '['.repeat(64) + ']'.repeat(64), null],
    ['65 lists', '['.repeat(65) + ']'.repeat(65), tooDeep],
    ['65 unclosed lists', '['.repeat(65), tooDeep],
    ['64 objects', '{"a":'.repeat(64) + '1' + '}'.repeat(64), null],
    ['65 objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65), tooDeep],
    ['65 of both kinds', '[{"a":'.repeat(33), tooDeep],
    ['65 after blanks', ' \n'.repeat(99) + '['.repeat(65), tooDeep],
    ['many next to each other', `[${'[],'.repeat(999)}{}]`, null],
    ['brackets in a string', `["${'['.repeat(99)}"]`, null],
    ['brackets after an escaped quote', `["\\"${'['.repeat(99)}"]`, null],
    ['brackets after an escaped backslash', `["\\\\"${',['.repeat(65)}`, tooDeep],
    ['brackets in a key', `{"${'{'.repeat(99)}":1}`, null],
    ['an unclosed string', `${'['.repeat(60)}"${'['.repeat(99)}`, null],
  ])('is reported for %s', (_, text, fault) => {
    expect(jsonFault(text)).toBe(fault);
  });

  it('equals that of a parser', () => {
    const strings = fc.string({
      unit: fc.constantFrom('"', '\\', '[', '{', ']', '}', ':', 'a', '\n', 'é', '\ud800'),
    });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 12 }, strings, fc.integer(), tie('list'), tie('object')),
      list: fc.array(tie('tree'), { maxLength: 3 }),
      object: fc.dictionary(strings, tie('tree'), { maxKeys: 3 }),
    }));
    fc.assert(
      fc.property(
        tree,
        fc.integer({ min: 0, max: 64 }),
        fc.constantFrom(0, 2),
        (value, around, indent) => {
          const text =
            '['.repeat(around) + JSON.stringify(value, null, indent) + ']'.repeat(around);
          expect(jsonFault(text)).toBe(depthOf(JSON.parse(text)) > 64 ? tooDeep : null);
        },
      ),
    );
  });

  it('is reported quickly for two million brackets', () => {
    const text = '['.repeat(2 ** 21);
    // Another process may have the core for longer than that, though hardly five times.
    const times = Array.from({ length: 5 }, () => {
      const began = performance.now();
      expect(jsonFault(text)).toBe(tooDeep);
      return performance.now() - began;
    });
    expect(Math.min(...times)).toBeLessThan(50);
  });
});

describe('the keys of a JSON text', () => {
  it('may be a hundred thousand', () => {
    expect(jsonFault(keysOf(100_000))).toBeNull();
    expect(jsonFault(keysOf(100_001))).toBe(tooMany);
  });
});
