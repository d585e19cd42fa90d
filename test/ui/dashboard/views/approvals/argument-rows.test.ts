import { describe, expect, it } from 'vitest';
import { argumentRows } from '../../../../../src/ui/dashboard/views/approvals/argument-rows.ts';

describe('the arguments of a call', () => {
  it('are shown exactly: text that reads like another value has quotes', () => {
    const shown = argumentRows({ a: 5, b: '5', c: '', d: ' x', e: 'x', f: null, g: { h: [1] } });
    expect(shown.map(({ now }) => now)).toEqual([
      '5',
      '"5"',
      '""',
      '" x"',
      'x',
      'null',
      '{\n  "h": [\n    1\n  ]\n}',
    ]);
  });

  it('stand beside what a rule has changed, added or removed', () => {
    expect(argumentRows({ a: 1, b: 2, d: 4 }, { a: 1, b: 3, c: 'x' })).toEqual([
      { name: 'a', now: '1', before: null, change: 'none' },
      { name: 'b', now: '2', before: '3', change: 'changed' },
      { name: 'd', now: '4', before: null, change: 'added' },
      { name: 'c', now: null, before: 'x', change: 'removed' },
    ]);
  });
});
