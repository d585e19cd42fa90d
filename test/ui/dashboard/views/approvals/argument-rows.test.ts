import { describe, expect, it } from 'vitest';
import { argumentRows } from '../../../../../src/ui/dashboard/views/approvals/argument-rows.ts';

const plain = (text: string) => ({ kind: 'plain', text });

describe('the arguments of a call', () => {
  it('are shown exactly: a string that looks like another value has quotes', () => {
    const shown = argumentRows({ a: 5, b: '5', c: '', d: ' x', e: 'x', f: null, g: { h: [1] } });
    expect(shown.map(({ now }) => now)).toEqual(
      ['5', '"5"', '""', '" x"', 'x', 'null', '{\n  "h": [\n    1\n  ]\n}'].map(plain),
    );
  });

  it('are shown next to the values that a rule changed, added or removed', () => {
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
      { name: 'a', now: plain('1'), before: null, change: 'none', within: [] },
      { name: 'b', now: plain('2'), before: '3', change: 'changed', within: [] },
      { name: 'd', now: plain('4'), before: null, change: 'added', within: [] },
      { name: 'e', now: plain('y'), before: '[2000 characters]', change: 'changed', within: [] },
      { name: 'items', now: plain('[]'), before: null, change: 'none', within: [price] },
      { name: 'c', now: null, before: 'x', change: 'removed', within: [] },
    ]);
  });

  it('show a changed text as the difference of its lines', () => {
    const changes = [{ path: 'body', before: '"one\\ntwo\\n"', after: '"one\\n2\\n"' }];
    const [row] = argumentRows({ body: 'one\n2\n' }, changes);
    expect(row).toMatchObject({ name: 'body', before: null, change: 'changed' });
    expect(row?.now).toMatchObject({ kind: 'difference', note: '1 line added, 1 removed' });
  });

  it('show both texts of a pair of which a rule changed one', () => {
    const changes = [{ path: 'new_string', before: '"c"', after: '"b"' }];
    const rows = argumentRows({ old_string: 'a', new_string: 'b' }, changes);
    expect(rows.map(({ name, before }) => [name, before])).toEqual([
      ['old_string', null],
      ['new_string', 'c'],
    ]);
  });
});
