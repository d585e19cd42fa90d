import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  differenceOf,
  partsOf,
  type ShownValue,
  shownValue,
} from '../../../../../src/ui/dashboard/views/approvals/shown-value.ts';

/** The lines as a person reads them. */
function read(value: ShownValue | null): string[] {
  if (value === null || value.kind === 'plain' || value.kind === 'parts') return [];
  const words = (pieces: readonly { kind: string; text: string }[]) =>
    pieces.map(({ kind, text }) => (kind === 'plain' ? text : `<${text}>`)).join('');
  if (value.kind === 'text') {
    return value.lines.map(({ number, pieces }) => `${number ?? ''} ${words(pieces)}`.trimEnd());
  }
  const marks = { same: ' ', removed: '-', added: '+' } as const;
  return value.lines.map(
    ({ kind, before, after, pieces, isCut }) =>
      `${before ?? ''}/${after ?? ''}${marks[kind]}${words(pieces)}${isCut ? '<no newline>' : ''}`,
  );
}

describe('a string of several lines', () => {
  it.each([
    ['#!/bin/sh\nset -e\n', ['1 #!/bin/sh', '2 set -e'], '2 lines, ends with a newline'],
    ['a\nb', ['1 a', '2 b'], '2 lines, no newline at the end'],
    ['a\n\n', ['1 a', '2'], '2 lines, ends with a newline'],
    ['\n', ['1'], '1 line, ends with a newline'],
    ['a  \n b\n', ['1 a<2 blanks>', '2  b'], '2 lines, ends with a newline'],
    ['a\r\nb\r\n', ['1 a', '2 b'], '2 lines, ends with a newline, Windows line ends'],
    ['a\r\nb\n', ['1 a<U+000D>', '2 b'], '2 lines, ends with a newline'],
    ['a\rb\n', ['1 a<U+000D>b'], '1 line, ends with a newline'],
    [
      `${'\u00a0\n'.repeat(6)}b\n`,
      [...[1, 2, 3, 4, 5, 6].map((number) => `${number} <U+00A0>`), '7 b'],
      '7 lines, ends with a newline',
    ],
    ['a\u202eb\n\tc\n', ['1 a<U+202E>b', '2 <tab>c'], '2 lines, ends with a newline'],
    [
      `a\n${'\n'.repeat(40)}b\n`,
      ['1 a', '2 <40 blank lines>', '42 b'],
      '42 lines, ends with a newline',
    ],
  ])('is shown as lines: %j', (text, lines, note) => {
    const value = shownValue('content', text);
    expect(read(value)).toEqual(lines);
    expect(value).toMatchObject({ kind: 'text', note, isCommand: false });
  });

  it('has no line numbers if it is too long, and every character', () => {
    const value = shownValue('content', 'x\n'.repeat(6_000));
    expect(value).toMatchObject({ kind: 'text', note: '6,000 lines, ends with a newline' });
    expect(read(value)).toHaveLength(1);
  });
});

it('a command is shown as one, also on one line, and other short texts unchanged', () => {
  expect(shownValue('command', 'rm -rf build ')).toMatchObject({ kind: 'text', isCommand: true });
  expect(read(shownValue('cmd', 'ls '))).toEqual(['1 ls<1 blank>']);
  expect(shownValue('command', '')).toEqual({ kind: 'plain', text: '""' });
  expect(shownValue('command', 5)).toEqual({ kind: 'plain', text: '5' });
  expect(shownValue('name', 'ls')).toEqual({ kind: 'plain', text: 'ls' });
});

describe('two texts of which one replaces the other', () => {
  it.each([
    ['old_string', 'new_string'],
    ['oldString', 'newString'],
    ['old_str', 'new_str'],
  ])('are shown as their difference: %s, %s', (before, after) => {
    const [path, pair] = partsOf({ path: 'a.ts', [before]: 'a\nb\nc\n', [after]: 'a\nB\nc' });
    expect(path).toEqual({ name: 'path', value: { kind: 'plain', text: 'a.ts' } });
    expect(pair?.name).toBe(`${before} → ${after}`);
    expect(read(pair?.value ?? null)).toEqual([
      '1/1 a',
      '2/-b',
      '3/-c',
      '/2+B',
      '/3+c<no newline>',
    ]);
    expect(pair?.value).toMatchObject({ note: '2 lines added, 2 removed' });
  });

  it('are shown the same way in a list of edits, under the number of the edit', () => {
    const edits = [{ old_string: 'a', new_string: 'b', replace_all: true }, { text: 'x\ny\n' }];
    const value = shownValue('edits', edits);
    expect(value).toMatchObject({
      kind: 'parts',
      parts: [
        {
          name: '[0]',
          value: {
            parts: [
              { name: 'old_string → new_string', value: { kind: 'difference' } },
              { name: 'replace_all', value: { kind: 'plain', text: 'true' } },
            ],
          },
        },
        { name: '[1] text', value: { kind: 'text' } },
      ],
    });
  });

  it('are shown one after the other if they are too long for a comparison', () => {
    const texts = { old_string: 'a\n'.repeat(4_000), new_string: 'b\n'.repeat(4_000) };
    expect(partsOf(texts).map(({ name }) => name)).toEqual(['old_string', 'new_string']);
  });

  it('contain every line of the two texts', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
    fc.assert(
      fc.property(text, text, fc.boolean(), (one, other, isClosed) => {
        const end = isClosed ? '\n' : '';
        const [before, after] = [one.join('\n') + end, other.join('\n') + end];
        const value = differenceOf(before, after);
        if (value?.kind !== 'difference') throw new Error('no difference');
        const side = (left: 'removed' | 'added') =>
          value.lines
            .filter(({ kind }) => kind !== left)
            .map(
              ({ pieces, isCut }) =>
                pieces.map((piece) => piece.text).join('') + (isCut ? '' : '\n'),
            )
            .join('');
        expect([side('added'), side('removed')]).toEqual([before, after]);
      }),
    );
  });
});

it('a structure without such texts is shown as JSON, with unusual names quoted', () => {
  expect(shownValue('items', [{ price: 5 }])).toMatchObject({ kind: 'plain' });
  expect(partsOf({ '[0] x': 'a\nb' }, { depth: 1 }).map(({ name }) => name)).toEqual(['"[0] x"']);
});

describe('a call with many texts', () => {
  it('is shown without a comparison of all of them, and nothing is omitted', () => {
    const textOf = (mark: string, index: number) =>
      Array.from({ length: 1_600 }, (_, line) => `${mark}${index}.${line}`).join('\n');
    const edits = Array.from({ length: 40 }, (_, index) => ({
      ...{ old_string: textOf('a', index), new_string: textOf('b', index) },
    }));
    const linesIn = (value: ShownValue): number =>
      value.kind === 'parts'
        ? value.parts.reduce((sum, part) => sum + linesIn(part.value), 0)
        : value.kind === 'plain'
          ? 1
          : value.lines.length;
    const [{ value } = { value: null }] = partsOf({ edits });
    expect(value && linesIn(value)).toBeLessThanOrEqual(10_000 + 80);
    const shown = JSON.stringify(value);
    expect(
      edits
        .flatMap((_, index) => [`a${index}.1599`, `b${index}.1599`])
        .filter((end) => !shown.includes(end)),
    ).toEqual([]);
  });
});
