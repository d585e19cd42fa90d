import { describe, expect, it } from 'vitest';
import { addTextsOf } from '../../../../src/actors/governance/guardrails/value-texts.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';

function textsOf(value: JsonValue): Set<string> {
  const texts = new Set<string>();
  addTextsOf(value, texts);
  return texts;
}

describe('the texts of a value', () => {
  it.each<[string, JsonValue, string[]]>([
    ['a text', 'a\n"b"', ['a\n"b"']],
    ['a number', 1, []],
    ['nothing', null, []],
    ['keys and values', { a: 'b', c: { d: 1 } }, ['a', 'b', 'c', 'd']],
    ['plain values as words, and each string', ['rm', 1, true, null], ['rm 1 true null', 'rm']],
    ['one word', ['rm'], ['rm']],
    ['one number', [1], []],
    ['no words', [], []],
    ['a list in a list', ['rm', ['-rf', 'x']], ['rm', '-rf x', '-rf', 'x']],
    ['an object in a list', ['rm', { x: 1 }], ['rm', 'x']],
  ])('of %s', (_, value, texts) => {
    expect(textsOf(value)).toEqual(new Set(texts));
  });
});
