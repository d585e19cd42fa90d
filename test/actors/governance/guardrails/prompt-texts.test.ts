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

describe('the matched texts of a prompt', () => {
  it('are its texts, one per line', () => {
    expect(textsOf({ kind: 'text', text: 'one' }, { kind: 'text', text: 'two' })).toEqual([
      'one\ntwo',
    ]);
  });

  it('include data as JSON, and each string in it', () => {
    const texts = textsOf({ kind: 'data', data: { a: ['x\ny', 'z'] } });
    expect(new Set(texts)).toEqual(new Set(['{"a":["x\\ny","z"]}', 'a', 'x\ny z', 'x\ny', 'z']));
  });

  it('include the name and the URL of a file, together and alone', () => {
    expect(
      textsOf(file({ name: 'a.txt', mimeType: 'text/plain', uri: 'https://a.example' })),
    ).toEqual(['a.txt text/plain https://a.example', 'a.txt', 'text/plain', 'https://a.example']);
    expect(textsOf(file({ uri: 'https://a.example' }))).toEqual(['https://a.example']);
  });

  it('include the content of a file', () => {
    expect(textsOf(file({ name: 'a', bytes: Buffer.from('größer').toString('base64') }))).toEqual([
      'a',
      'größer',
    ]);
  });

  it.each<[string, number[], string]>([
    ['UTF-8', [0x68, 0xc3, 0xb6], 'hö'],
    ['Latin-1, when they are not UTF-8', [0x68, 0xf6], 'hö'],
    ['UTF-16, little-endian', [0xff, 0xfe, 0x68, 0x00, 0xf6, 0x00], 'hö'],
    ['UTF-16, big-endian', [0xfe, 0xff, 0x00, 0x68, 0x00, 0xf6], 'hö'],
    ['Latin-1, with only the first byte of a mark', [0xff, 0x68], 'ÿh'],
    ['Latin-1, with only the second byte of a mark', [0x68, 0xfe], 'hþ'],
    ['Latin-1, with a mixed mark', [0xfe, 0xfe], 'þþ'],
    ['Latin-1, with a reversed mark', [0xff, 0xff], 'ÿÿ'],
  ])('are read as %s', (_, bytes, text) => {
    expect(textsOf(holding(...bytes))).toEqual(['', text]);
  });

  it.each<[string, number[]]>([
    ['a zero', [0x68, 0x00, 0x69]],
    ['a zero after one mark', [0xff, 0x00, 0x69]],
    ['a zero after the other mark', [0xfe, 0x00]],
  ])('are empty for bytes with %s', (_, bytes) => {
    expect(textsOf(holding(...bytes))).toEqual(['']);
  });
});
