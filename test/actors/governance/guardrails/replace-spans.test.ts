import { describe, expect, it } from 'vitest';
import { replaceSpans } from '../../../../src/actors/governance/guardrails/redactor.ts';

type Given = [start: number, end: number, by: string];

const replaced = (...given: Given[]) =>
  replaceSpans(
    '0123456789',
    given.map(([start, end, by]) => ({ start, end, by })),
  );

describe('a text in which spans are replaced', () => {
  it.each<[string, string, Given[]]>([
    ['stays as it is without any', '0123456789', []],
    [
      'keeps what lies around them',
      '0[a]34[b]9',
      [
        [1, 3, '[a]'],
        [5, 9, '[b]'],
      ],
    ],
    [
      'is replaced from left to right, whatever their order',
      '[a]234[b]9',
      [
        [5, 9, '[b]'],
        [0, 2, '[a]'],
      ],
    ],
    [
      'has one replacement for each of two that touch',
      '0[a][b]56789',
      [
        [1, 3, '[a]'],
        [3, 5, '[b]'],
      ],
    ],
    [
      'has one for two that overlap',
      '0[a]6789',
      [
        [1, 4, '[a]'],
        [3, 6, '[b]'],
      ],
    ],
    [
      'has that of the one that is first in the list',
      '0[b]6789',
      [
        [3, 6, '[b]'],
        [1, 4, '[a]'],
      ],
    ],
    [
      'has one for a span that holds another',
      '0[a]89',
      [
        [1, 8, '[a]'],
        [3, 5, '[b]'],
      ],
    ],
    [
      'has one for two that begin alike',
      '0[a]89',
      [
        [1, 4, '[a]'],
        [1, 8, '[b]'],
      ],
    ],
    [
      'has one for a chain of them, the first of the list',
      '0[a]9',
      [
        [4, 7, '[a]'],
        [6, 9, '[b]'],
        [1, 5, '[c]'],
      ],
    ],
    [
      'has the first of the list where it comes between the others',
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
