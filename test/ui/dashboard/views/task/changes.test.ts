import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesOf } from '../../../../../src/ui/dashboard/views/task/changes.ts';

describe('changesOf', () => {
  it('lists what was changed, added and removed, by path', () => {
    const before = { amount: 899, note: 'x', to: { iban: 'A', name: 'Ann' }, items: [1, 2] };
    const after = { amount: 89.9, to: { iban: 'A', name: 'Bea' }, items: [1, 2, 3], dry: true };
    expect(changesOf(before, after)).toEqual([
      { path: 'amount', before: 899, after: 89.9 },
      { path: 'note', before: 'x', after: undefined },
      { path: 'to.name', before: 'Ann', after: 'Bea' },
      { path: 'items.2', before: undefined, after: 3 },
      { path: 'dry', before: undefined, after: true },
    ]);
  });

  it('takes a name of the language for an argument like any other', () => {
    const after = JSON.parse('{"__proto__": 1}') as unknown;
    expect(changesOf({}, { constructor: 1 })).toEqual([
      { path: 'constructor', before: undefined, after: 1 },
    ]);
    expect(changesOf({}, after)).toEqual([{ path: '__proto__', before: undefined, after: 1 }]);
  });

  it('finds nothing between a value and itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(changesOf(value, structuredClone(value))).toEqual([]);
      }),
    );
  });
});
