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
    const price = { path: 'items.0.price', before: '5', after: '3' };
    const changes = [
      { path: 'b', before: '3', after: '2' },
      { path: 'c', before: '"x"' },
      { path: 'd', after: '4' },
      { path: 'e', before: '[2000 characters]', after: '"y"' },
      price,
    ];
    const args = { a: 1, b: 2, d: 4, e: 'y', items: [] };
    expect(argumentRows(args, changes)).toEqual([
      { name: 'a', now: '1', before: null, change: 'none', within: [] },
      { name: 'b', now: '2', before: '3', change: 'changed', within: [] },
      { name: 'd', now: '4', before: null, change: 'added', within: [] },
      { name: 'e', now: 'y', before: '[2000 characters]', change: 'changed', within: [] },
      { name: 'items', now: '[]', before: null, change: 'none', within: [price] },
      { name: 'c', now: null, before: 'x', change: 'removed', within: [] },
    ]);
  });
});
