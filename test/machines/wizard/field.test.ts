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

it.each(['', 'a b', 'ö', '😀', ' a ', '#', 'x'.repeat(2_000)])(
  'takes %j for a text of one line',
  (text) => {
    expect(isPlainText(text)).toBe(true);
  },
);

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
])('takes %j for no text of one line', (text) => {
  expect(isPlainText(text)).toBe(false);
});

it.each([
  ['', []],
  ['a', ['a']],
  [' a , b c,, ,d ', ['a', 'b c', 'd']],
  [',', []],
])('splits %j at its commas', (text, entries) => {
  expect(splitList(text)).toEqual(entries);
});

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ['a', false],
])('knows whether %j has keys of its own', (value, is) => {
  expect(isRecord(value)).toBe(is);
});

describe('what is wrong with a field', () => {
  const notRight = 'The X is not right; write one such as abc';
  const missing = 'The X is missing; write one such as abc';
  const digits = { pattern: '\\d+|no' };
  const full = Array.from({ length: 200 }, () => 'a');

  it.each<[string, Field, FieldValues, string | null]>([
    ['is nothing when it may be left out', field('text'), {}, null],
    ['is nothing when it is empty and may be', field('text'), { x: '' }, null],
    ['is nothing when it is blank and may be', field('url'), { x: ' ' }, null],
    ['is that it is missing', field('text', { required: true }), {}, missing],
    ['is that it is empty', field('text', { required: true }), { x: '' }, missing],
    ['is that it is blank', field('secret', { required: true }), { x: ' ' }, missing],
    ['is that its list is empty', field('list', { required: true }), { x: [] }, missing],
    ['is that its list is blank', field('list', { required: true }), { x: ['', ' '] }, missing],
    ['is that its map is blank', field('map', { required: true }), { x: { a: '' } }, missing],
    ['is that its list was left empty', field('list', { required: true }), { x: '' }, missing],
    ['is nothing when a list is left empty', field('list'), { x: '' }, null],
    ['is nothing when a map is left empty', field('map'), { x: '' }, null],
    ['is nothing when a text is there', field('text', { required: true }), { x: 'a' }, null],
    ['is that a text has two lines', field('text'), { x: 'a\nb' }, notRight],
    ['is that a secret has a control character', field('secret'), { x: '\0' }, notRight],
    ['is that a text is a list', field('text'), { x: ['a'] }, notRight],
    ['is that a secret is a map', field('secret'), { x: { a: 'a' } }, notRight],
    ['is that a list is a text', field('list'), { x: 'a' }, notRight],
    ['is that a list is a map', field('list'), { x: { a: 'a' } }, notRight],
    ['is that a map is a text', field('map'), { x: 'a' }, notRight],
    ['is that a map is a list', field('map'), { x: ['a'] }, notRight],
    ['is nothing when a list has entries', field('list'), { x: ['a', '', 'b'] }, null],
    ['is nothing when a map has entries', field('map'), { x: { a: 'a', b: '' } }, null],
    ['is that one entry of a list is wrong', field('list'), { x: ['a', '\0'] }, notRight],
    ['is that one entry of a map is wrong', field('map'), { x: { a: 'a', b: '\0' } }, notRight],
    ['is nothing with 200 entries', field('list'), { x: full }, null],
    [
      'is that there are 201 entries',
      field('list'),
      { x: [...full, ''] },
      'The X has more than 200 entries',
    ],
    ['is nothing at https', field('url'), { x: 'https://id.example.com/a' }, null],
    ['is nothing at http on this machine', field('url'), { x: 'http://127.0.0.1:1' }, null],
    ['is that http leads elsewhere', field('url'), { x: 'http://id.example.com' }, notRight],
    ['is that an address is none', field('url'), { x: 'id.example.com' }, notRight],
    ['is nothing when a text that is no address need be none', field('text'), { x: 'ftp:' }, null],
    ['is nothing when the pattern matches', field('text', digits), { x: '12' }, null],
    [
      'is nothing when the pattern matches between blanks',
      field('text', digits),
      { x: ' no ' },
      null,
    ],
    [
      'is that the pattern matches the beginning alone',
      field('text', digits),
      { x: '12a' },
      notRight,
    ],
    ['is that the pattern matches the end alone', field('text', digits), { x: 'a12' }, notRight],
    ['is that the pattern misses one entry', field('list', digits), { x: ['1', 'a'] }, notRight],
    [
      'is nothing when a pattern counts characters as people do',
      field('text', { pattern: '.' }),
      { x: '😀' },
      null,
    ],
  ])('%s', (_, one, values, wrong) => {
    expect(wrongFields([one], values)).toBe(wrong);
  });

  it('is said of the first that is wrong', () => {
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

describe('of what somebody sent', () => {
  const map = field('map', { keys: ['user_id', 'email', 'toString'] });

  it.each<[string, Field, unknown, FieldValues]>([
    ['a text is taken as it is', field('text'), { x: ' a ' }, { x: ' a ' }],
    ['an empty text is taken', field('secret'), { x: '' }, { x: '' }],
    ['a number is left out', field('text'), { x: 1 }, {}],
    ['a list is left out where a text belongs', field('url'), { x: ['a'] }, {}],
    ['another name is left out', field('text'), { y: 'a' }, {}],
    ['nothing is taken of nothing', field('text'), undefined, {}],
    ['nothing is taken of a text', field('text'), 'a', {}],
    ['nothing is taken of a list', field('text'), ['a'], {}],
    ['nothing is taken of null', field('text'), null, {}],
    ['nothing is taken that every object has', field('text', { name: 'toString' }), { x: 'a' }, {}],
    [
      'nothing is taken that a prototype has',
      field('text'),
      Object.create({ x: 'a' }) as unknown,
      {},
    ],
    ['a list is taken', field('list'), { x: ['a', ''] }, { x: ['a', ''] }],
    ['an empty list is taken', field('list'), { x: [] }, { x: [] }],
    ['a list that was typed is split', field('list'), { x: 'a, b' }, { x: ['a', 'b'] }],
    ['a list with a number is left out', field('list'), { x: ['a', 1] }, {}],
    ['a number is left out where a list belongs', field('list'), { x: 1 }, {}],
    [
      'the known keys of a map are taken',
      map,
      { x: { user_id: 'oid', email: '', acr: 'a' } },
      { x: { user_id: 'oid' } },
    ],
    ['a map with a number alone is left out', map, { x: { user_id: 1 } }, {}],
    ['a map that is none is left out', map, { x: 'user_id' }, {}],
    ['a map that is null is left out', map, { x: null }, {}],
    ['a map without keys is left out', field('map'), { x: { user_id: 'a' } }, {}],
    [
      'a map is not read from its prototype',
      map,
      { x: Object.create({ email: 'a' }) as unknown },
      {},
    ],
  ])('%s', (_, one, sent, values) => {
    expect(readFields([one], sent)).toEqual(values);
  });

  it('every field that is known is taken', () => {
    const fields = [field('text', { name: 'a' }), field('list', { name: 'b' }), map];
    expect(readFields(fields, { b: 'b', a: 'a', c: 'c' })).toEqual({ a: 'a', b: ['b'] });
  });
});
