import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../../src/machines/skill-builder/read-answer.ts';
import { longestAnswer } from '../../../src/machines/skill-builder/written-skill.ts';

describe('any answer of a model', () => {
  it.each<[string, string]>([
    ['braces', '{'],
    ['quoted braces', '{"'],
    ['backticks', '`'],
    ['openers', '````md\n---\nname: a\n---\n```\n'],
    ['blanks', '``` a   '],
    ['lines', '\n'],
  ])('is read quickly when it is a megabyte of %s', (_, unit) => {
    const text = `\`\`\`x${unit.repeat(Math.floor(longestAnswer / unit.length) - 4)}`;
    const start = performance.now();
    expect(readAnswer(text).draft?.scripts ?? {}).toEqual({});
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
