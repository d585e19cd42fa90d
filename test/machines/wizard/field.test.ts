import { describe, expect, it } from 'vitest';
import {
  type Field,
  type FieldValues,
  isPlainText,
  isRecord,
  readFields,
  splitList,
  wrongFields,
} from '../../../src/machines/wizard/field.ts';

function field(kind: Field['kind'], more: Partial<Field> = {}): Field {
  return { name: 'x', label: 'The X', kind, required: false, example: 'abc', ...more };
}

it.each(['', 'a b', 'ö', '😀', ' a ', '#', 'x'.repeat(2_000)])('accepts %j as a line', (text) => {
  expect(isPlainText(text)).toBe(true);
});

it.each([
  'a\nb',
  '\0',
  '\t',
  '\x7f',
  '\x85',
  'a\u2028',
  '\u2029b',
  '\ud800',
  'a\udc00b',
  'x'.repeat(2_001),
])('refuses %j as a line', (text) => {
  expect(isPlainText(text)).toBe(false);
});

it.each([
  ['', []],
  ['a', ['a']],
  [' a , b c,, ,d ', ['a', 'b c', 'd']],
  [',', []],
])('splits %j at commas', (text, entries) => {
  expect(splitList(text)).toEqual(entries);
});

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ['a', false],
])('detects whether %j has own keys', (value, is) => {
  expect(isRecord(value)).toBe(is);
});

describe('the finding of a field', () => {
  const notRight = 'The X is not right; write one such as abc';
  const missing = 'The X is missing; write one such as abc';
  const digits = { pattern: '\\d+|no' };
  const full = Array.from({ length: 200 }, () => 'a');

  it.each<[string, Field, FieldValues, string | null]>([
    ['is none when it is optional and missing', field('text'), {}, null],
    ['is none when it is optional and empty', field('text'), { x: '' }, null],
    ['is none when it is optional and blank', field('url'), { x: ' ' }, null],
    ['is that it is missing', field('text', { required: true }), {}, missing],
    ['is that it is empty', field('text', { required: true }), { x: '' }, missing],
    ['is that it is blank', field('secret', { required: true }), { x: ' ' }, missing],
    ['is that its list is empty', field('list', { required: true }), { x: [] }, missing],
    ['is that its list is blank', field('list', { required: true }), { x: ['', ' '] }, missing],
    ['is that its map is blank', field('map', { required: true }), { x: { a: '' } }, missing],
    ['is an empty required list', field('list', { required: true }), { x: '' }, missing],
    ['is none for an optional empty list', field('list'), { x: '' }, null],
    ['is none for an optional empty map', field('map'), { x: '' }, null],
    ['is none for a given string', field('text', { required: true }), { x: 'a' }, null],
    ['is a string of two lines', field('text'), { x: 'a\nb' }, notRight],
    ['is a secret with a control character', field('secret'), { x: '\0' }, notRight],
    ['is a list for a string', field('text'), { x: ['a'] }, notRight],
    ['is a map for a secret', field('secret'), { x: { a: 'a' } }, notRight],
    ['is a string for a list', field('list'), { x: 'a' }, notRight],
    ['is a map for a list', field('list'), { x: { a: 'a' } }, notRight],
    ['is a string for a map', field('map'), { x: 'a' }, notRight],
    ['is a list for a map', field('map'), { x: ['a'] }, notRight],
    ['is none for a list with entries', field('list'), { x: ['a', '', 'b'] }, null],
    ['is none for a map with entries', field('map'), { x: { a: 'a', b: '' } }, null],
    ['is one wrong entry of a list', field('list'), { x: ['a', '\0'] }, notRight],
    ['is one wrong entry of a map', field('map'), { x: { a: 'a', b: '\0' } }, notRight],
    ['is none for 200 entries', field('list'), { x: full }, null],
    ['is the 201st entry', field('list'), { x: [...full, ''] }, 'The X has more than 200 entries'],
    ['is none for https', field('url'), { x: 'https://id.example.com/a' }, null],
    ['is none for http on this machine', field('url'), { x: 'http://127.0.0.1:1' }, null],
    ['is http to another machine', field('url'), { x: 'http://id.example.com' }, notRight],
    ['is an invalid address', field('url'), { x: 'id.example.com' }, notRight],
    ['is none for a string where no address is needed', field('text'), { x: 'ftp:' }, null],
    ['is none when the pattern matches', field('text', digits), { x: '12' }, null],
    ['is none when the pattern matches between blanks', field('text', digits), { x: ' no ' }, null],
    ['is a pattern that matches only the beginning', field('text', digits), { x: '12a' }, notRight],
    ['is a pattern that matches only the end', field('text', digits), { x: 'a12' }, notRight],
    ['is a pattern that misses one entry', field('list', digits), { x: ['1', 'a'] }, notRight],
    [
      'is none when a pattern counts visible characters',
      field('text', { pattern: '.' }),
      { x: '😀' },
      null,
    ],
  ])('%s', (_, one, values, wrong) => {
    expect(wrongFields([one], values)).toBe(wrong);
  });

  it('is that of the first wrong field', () => {
    const fields = [
      field('text', { name: 'a', label: 'A' }),
      field('text', { name: 'b', label: 'B', required: true }),
      field('text', { name: 'c', label: 'C', required: true }),
    ];
    expect(wrongFields(fields, { a: 'a' })).toBe('B is missing; write one such as abc');
    expect(wrongFields(fields, { a: 'a', b: 'b', c: 'c' })).toBeNull();
    expect(wrongFields([], { a: '\0' })).toBeNull();
  });
});

describe('the accepted fields of a body', () => {
  const map = field('map', { keys: ['user_id', 'email', 'toString'] });

  it.each<[string, Field, unknown, FieldValues]>([
    ['include a string unchanged', field('text'), { x: ' a ' }, { x: ' a ' }],
    ['include an empty string', field('secret'), { x: '' }, { x: '' }],
    ['omit a number', field('text'), { x: 1 }, {}],
    ['omit a list in place of a string', field('url'), { x: ['a'] }, {}],
    ['omit an unknown name', field('text'), { y: 'a' }, {}],
    ['are empty for undefined', field('text'), undefined, {}],
    ['are empty for a string', field('text'), 'a', {}],
    ['are empty for a list', field('text'), ['a'], {}],
    ['are empty for null', field('text'), null, {}],
    ['omit properties that every object has', field('text', { name: 'toString' }), { x: 'a' }, {}],
    ['omit properties of a prototype', field('text'), Object.create({ x: 'a' }) as unknown, {}],
    ['include a list', field('list'), { x: ['a', ''] }, { x: ['a', ''] }],
    ['include an empty list', field('list'), { x: [] }, { x: [] }],
    ['include a typed list, split', field('list'), { x: 'a, b' }, { x: ['a', 'b'] }],
    ['omit a list with a number', field('list'), { x: ['a', 1] }, {}],
    ['omit a number in place of a list', field('list'), { x: 1 }, {}],
    [
      'include the known keys of a map',
      map,
      { x: { user_id: 'oid', email: '', acr: 'a' } },
      { x: { user_id: 'oid' } },
    ],
    ['omit a map with only a number', map, { x: { user_id: 1 } }, {}],
    ['omit a value that is not a map', map, { x: 'user_id' }, {}],
    ['omit a null map', map, { x: null }, {}],
    ['omit a map without keys', field('map'), { x: { user_id: 'a' } }, {}],
    ['omit the prototype of a map', map, { x: Object.create({ email: 'a' }) as unknown }, {}],
  ])('%s', (_, one, sent, values) => {
    expect(readFields([one], sent)).toEqual(values);
  });

  it('include every known field', () => {
    const fields = [field('text', { name: 'a' }), field('list', { name: 'b' }), map];
    expect(readFields(fields, { b: 'b', a: 'a', c: 'c' })).toEqual({ a: 'a', b: ['b'] });
  });
});
