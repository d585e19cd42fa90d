import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wireTools } from '../../../../src/actors/tasks/models/wire-tools.ts';

const text = { type: 'string' };

describe('the arguments of a tool on the wire', () => {
  it('keep their names where every provider accepts them', () => {
    const parameters = { type: 'object', properties: { a: text, 'b.c-d_e': text } };
    const names = wireTools([{ name: 'list', parameters }]);
    expect(names.schemaOf('list')).toBe(parameters);
    expect(names.argsFromWire('list', { a: '1', other: 2 })).toEqual({ a: '1', other: 2 });
  });

  it('keep most characters of a refused name, and are mapped back', () => {
    const parameters = {
      type: 'object',
      properties: { $filter: text, 'filter[id]': text, a: text },
      required: ['$filter', 'a'],
      additionalProperties: false,
    };
    const names = wireTools([{ name: 'list', parameters }]);
    const { properties, required, ...rest } = names.schemaOf('list');
    const [filter = '', id = '', a] = Object.keys(properties as object);
    expect(filter).toMatch(/^_filter_[0-9a-f]{16}$/);
    expect(id).toMatch(/^filter_id__[0-9a-f]{16}$/);
    expect([a, required, rest]).toEqual([
      'a',
      [filter, 'a'],
      { type: 'object', additionalProperties: false },
    ]);
    const asked = { [filter]: 'x', [id]: 'y', a: 'z', odd: 1 };
    const own = { $filter: 'x', 'filter[id]': 'y', a: 'z', odd: 1 };
    expect(names.argsFromWire('list', asked)).toEqual(own);
    expect(names.argsToWire('list', own)).toEqual(asked);
    expect(names.argsFromWire('other', asked)).toEqual(asked);
    expect(names.argsFromWire('list', 'no object')).toBe('no object');
    const twice = { [filter]: 'x', $filter: 'y' };
    expect(names.argsFromWire('list', twice)).toBe(twice);
  });

  it('are accepted by every provider, and mapped back to their names', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 130 }),
      fc.stringMatching(/^[a-z$@[\]]{1,90}$/),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 20 }), (keys) => {
        const own = Object.fromEntries(keys.map((key) => [key, {}]));
        const names = wireTools([{ name: 'list', parameters: { properties: own } }]);
        const wired = Object.keys(names.schemaOf('list')['properties'] as object);
        for (const each of wired) expect(each).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
        expect(names.argsFromWire('list', names.argsToWire('list', own))).toEqual(own);
        expect(wired).toHaveLength(Object.keys(own).length);
      }),
    );
  });
});
