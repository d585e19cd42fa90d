import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wireNames } from '../../../../src/actors/tasks/models/wire-names.ts';

describe('the name of a tool on the wire', () => {
  it.each(['pay', 'issue_refund', 'look-up', 'shop__search', 'a'.repeat(64)])(
    'is unchanged where every provider accepts it: %s',
    (tool) => expect(wireNames([tool]).toWire(tool)).toBe(tool),
  );

  it('keeps most characters of a name that providers refuse', () => {
    expect(wireNames([]).toWire('shop.search')).toMatch(/^shop_search_[0-9a-f]{16}$/);
  });

  it('is accepted by every provider, unique, and mapped back to its tool', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, maxLength: 130, unit: 'binary' }),
      fc.stringMatching(/^[a-z0-9._:/-]{1,90}$/),
    );
    const tools = fc.uniqueArray(name, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(tools, (given) => {
        const names = wireNames(given);
        const wired = given.map((tool) => names.toWire(tool));
        for (const each of wired) expect(each).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
        expect(wired.map((each) => names.fromWire(each))).toEqual(given);
      }),
    );
  });

  it('cannot be taken over by a tool with that name', () => {
    const mapped = wireNames(['shop.search']).toWire('shop.search');
    const names = wireNames(['shop.search', mapped]);
    expect(names.fromWire(names.toWire('shop.search'))).toBe('shop.search');
    expect(names.fromWire(names.toWire(mapped))).toBe(mapped);
  });

  it('is unchanged when it was never offered, so the call is reported as one of an unknown tool', () => {
    expect(wireNames(['pay']).fromWire('rm_rf')).toBe('rm_rf');
  });
});
