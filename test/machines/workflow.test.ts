import { describe, expect, it } from 'vitest';
import { isTagValue } from '../../src/machines/workflow.ts';

describe('isTagValue', () => {
  it.each([
    ['refunds', true],
    ['~ run 7', true],
    ['a'.repeat(256), true],
    ['a'.repeat(257), false],
    ['', false],
    ['ü', false],
    ['a\nb', false],
    ['a\n', false],
  ])('of %j is %s', (text, expected) => {
    expect(isTagValue(text)).toBe(expected);
  });
});
