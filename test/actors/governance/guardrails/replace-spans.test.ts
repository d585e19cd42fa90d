import { describe, expect, it } from 'vitest';
import { replaceSpans } from '../../../../src/actors/governance/guardrails/redactor.ts';

type Given = [start: number, end: number, by: string];

const replaced = (...given: Given[]) =>
  replaceSpans(
    '0123456789',
    given.map(([start, end, by]) => ({ start, end, by })),
  );

describe('a string in which spans are replaced', () => {
  it.each<[string, string, Given[]]>([
    ['is unchanged without spans', '0123456789', []],
    [
      'keeps the text around them',
      '0[a]34[b]9',
      [
        [1, 3, '[a]'],
        [5, 9, '[b]'],
      ],
    ],
    [
      'is replaced from left to right, for any order of the spans',
      '[a]234[b]9',
      [
        [5, 9, '[b]'],
        [0, 2, '[a]'],
      ],
    ],
    [
      'has one mark for each of two touching spans',
      '0[a][b]56789',
      [
        [1, 3, '[a]'],
        [3, 5, '[b]'],
      ],
    ],
    [
      'has one mark for two overlapping spans',
      '0[a]6789',
      [
        [1, 4, '[a]'],
        [3, 6, '[b]'],
      ],
    ],
    [
      'has the mark of the first one in the list',
      '0[b]6789',
      [
        [3, 6, '[b]'],
        [1, 4, '[a]'],
      ],
    ],
    [
      'has one mark for a span that contains another',
      '0[a]89',
      [
        [1, 8, '[a]'],
        [3, 5, '[b]'],
      ],
    ],
    [
      'has one mark for two with the same beginning',
      '0[a]89',
      [
        [1, 4, '[a]'],
        [1, 8, '[b]'],
      ],
    ],
    [
      'has one mark for a chain of them, the first of the list',
      '0[a]9',
      [
        [4, 7, '[a]'],
        [6, 9, '[b]'],
        [1, 5, '[c]'],
      ],
    ],
    [
      'has the first of the list where it is between the others',
      '0[a]9',
      [
        [3, 6, '[a]'],
        [1, 4, '[b]'],
        [5, 9, '[c]'],
      ],
    ],
  ])('%s', (_, expected, given) => {
    expect(replaced(...given)).toBe(expected);
  });
});
