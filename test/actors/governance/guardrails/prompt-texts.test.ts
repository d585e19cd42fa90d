import { describe, expect, it } from 'vitest';
import { promptTexts } from '../../../../src/actors/governance/guardrails/prompt-texts.ts';
import type { Part } from '../../../../src/machines/domain/task.ts';

const textsOf = (...parts: Part[]) =>
  promptTexts({ role: 'user', messageId: 'm', parts }).values().toArray();

const file = (given: Extract<Part, { kind: 'file' }>['file']): Part => ({
  kind: 'file',
  file: given,
});
const holding = (...bytes: number[]): Part =>
  file({ bytes: Buffer.from(bytes).toString('base64') });

describe('what is matched of a prompt', () => {
  it('is its texts, one below the other', () => {
    expect(textsOf({ kind: 'text', text: 'one' }, { kind: 'text', text: 'two' })).toEqual([
      'one\ntwo',
    ]);
  });

  it('is data as JSON, and each text in it by itself', () => {
    const texts = textsOf({ kind: 'data', data: { a: ['x\ny', 'z'] } });
    expect(new Set(texts)).toEqual(new Set(['{"a":["x\\ny","z"]}', 'a', 'x\ny z', 'x\ny', 'z']));
  });

  it('is what a file is called and where it lies, together and each by itself', () => {
    expect(
      textsOf(file({ name: 'a.txt', mimeType: 'text/plain', uri: 'https://a.example' })),
    ).toEqual(['a.txt text/plain https://a.example', 'a.txt', 'text/plain', 'https://a.example']);
    expect(textsOf(file({ uri: 'https://a.example' }))).toEqual(['https://a.example']);
  });

  it('is what is written in a file', () => {
    expect(textsOf(file({ name: 'a', bytes: Buffer.from('größer').toString('base64') }))).toEqual([
      'a',
      'größer',
    ]);
  });

  it.each<[string, number[], string]>([
    ['UTF-8', [0x68, 0xc3, 0xb6], 'hö'],
    ['Latin-1, when it is no UTF-8', [0x68, 0xf6], 'hö'],
    ['UTF-16, the lower byte first', [0xff, 0xfe, 0x68, 0x00, 0xf6, 0x00], 'hö'],
    ['UTF-16, the higher byte first', [0xfe, 0xff, 0x00, 0x68, 0x00, 0xf6], 'hö'],
    ['Latin-1, when only the first of two marks is there', [0xff, 0x68], 'ÿh'],
    ['Latin-1, when only the second of two marks is there', [0x68, 0xfe], 'hþ'],
    ['Latin-1, when the marks are of both kinds', [0xfe, 0xfe], 'þþ'],
    ['Latin-1, when the marks are the other way', [0xff, 0xff], 'ÿÿ'],
  ])('is read as %s', (_, bytes, text) => {
    expect(textsOf(holding(...bytes))).toEqual(['', text]);
  });

  it.each<[string, number[]]>([
    ['a zero', [0x68, 0x00, 0x69]],
    ['a zero after one mark', [0xff, 0x00, 0x69]],
    ['a zero after the other mark', [0xfe, 0x00]],
  ])('is nothing of bytes with %s', (_, bytes) => {
    expect(textsOf(holding(...bytes))).toEqual(['']);
  });
});
