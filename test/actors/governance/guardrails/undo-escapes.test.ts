import { describe, expect, it } from 'vitest';
import { undoEscapes } from '../../../../src/actors/governance/guardrails/normal-form.ts';

describe('a string with undone escapes', () => {
  it('is unchanged without backslashes', () => {
    expect(undoEscapes('n u0041 /"')).toBeNull();
    expect(undoEscapes('')).toBeNull();
  });

  it.each([
    ['\\b\\f\\n\\r\\t', '\b\f\n\r\t'],
    ['\\"\\\'\\/', '"\'/'],
    ['a\\u0041b\\u00e4\\u00E4c', 'aAbääc'],
    ['\\\\\\\\n', '\n'],
    ['\\u005c\\u005Cn', '\n'],
    ['a\\\\b', 'a\b'],
    ['\\ud83d\\ude00', '\u{1f600}'],
    ['\\u12 \\d \\u005', '\\u12 \\d \\u005'],
    ['\\', '\\'],
    ['a\\', 'a\\'],
  ])('%s', (text, undone) => {
    expect(undoEscapes(text)?.text).toBe(undone);
  });

  it('maps back to each escape', () => {
    const undone = undoEscapes('a\\u0041\\\\nb');
    expect(undone?.text).toBe('aA\nb');
    const places = [0, 1, 2, 3].map((start) => undone?.sourceOf({ start, end: start + 1 }));
    expect(places).toEqual([
      { start: 0, end: 1 },
      { start: 1, end: 7 },
      { start: 7, end: 10 },
      { start: 10, end: 11 },
    ]);
  });
});
