import { describe, expect, it } from 'vitest';
import { brief } from '../../src/machines/brief.ts';

describe('brief', () => {
  it('cuts a string to one line of the given length', () => {
    expect(brief('  one\n two   three ', 9)).toBe('one two …');
    expect(brief('short', 9)).toBe('short');
    expect([brief('short', 5), brief('short', 4)]).toEqual(['short', 'sho…']);
  });

  it('escapes characters that could control a terminal', () => {
    expect(brief('\u001b[2Jred\u202e', 40)).toBe('\\u001b[2Jred\\u202e');
  });
});
