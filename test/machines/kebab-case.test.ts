import { expect, it } from 'vitest';
import { isKebabName } from '../../src/machines/kebab-case.ts';

it('kebab case has lower-case words with hyphens, up to 64 characters', () => {
  const right = ['refunds', 'refund-desk-2', '7', 'a'.repeat(64)];
  const wrong = [
    '',
    '-a',
    'a-',
    'a--b',
    'A',
    'a_b',
    'a/b',
    '..',
    'a\n',
    'é',
    'a'.repeat(65),
    7,
    null,
  ];
  expect([right.map(isKebabName), wrong.map(isKebabName)]).toEqual([
    right.map(() => true),
    wrong.map(() => false),
  ]);
});
