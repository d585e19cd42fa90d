import { describe, expect, it } from 'vitest';
import {
  kindOf,
  kinds,
  kindsOfUnits,
  unitKinds,
} from '../../../../src/actors/governance/guardrails/unit-kinds.ts';

describe('the kind of a character', () => {
  it.each<[keyof typeof kinds, string[]]>([
    ['plain', ['a', '~', 'é', '한', '\u1100', '\uffff', '\u{1f600}']],
    ['space', [' ']],
    ['blank', ['\u00a0', '\u2003', '\u3000', '\u2800']],
    ['breaking', ['\t', '\n', '\r', '\0', '\x7f', '\x85', '\u2028']],
    ['joining', ['\u0301', '\u0903', '\u20dd', '\u1161', '\u11ff', 'ﾞ', 'ﾟ', '\u{110ba}']],
    ['changing', ['ｅ', 'ﬁ', 'Ⓐ', '\u212b', '\u{1d422}']],
    ['surrogate', ['\ud800', '\udfff']],
    ['invisible', ['\u200b', '\u00ad', '\u202e', '\u{e0001}']],
  ])('is %s: %j', (kind, characters) => {
    expect(characters.map(kindOf)).toEqual(characters.map(() => kinds[kind]));
  });

  it('is invisible where it is also a mark, a blank or changed by NFKC', () => {
    const characters = ['\ufe0f', '\u034f', '\u{e0100}', '\u1160', '\ufeff', '\u3164'];
    expect(characters.map(kindOf)).toEqual(characters.map(() => kinds.invisible));
  });
});

describe('the table of code units', () => {
  it('contains the kind of each', () => {
    const units = Array.from({ length: 0x1_0000 }, (_, unit) => kindOf(String.fromCharCode(unit)));
    expect([...unitKinds()]).toEqual(units);
  });

  it('is created once', () => {
    expect(unitKinds()).toBe(unitKinds());
  });
});

describe('a newly created table', () => {
  it('contains the kind of each code unit, and of no surrogate pair', () => {
    const units = Array.from({ length: 0x1_0000 }, (_, unit) => kindOf(String.fromCharCode(unit)));
    expect([...kindsOfUnits()]).toEqual(units);
  });
});
