import { describe, expect, it } from 'vitest';
import {
  formFault,
  isComplete,
  readForm,
} from '../../../../src/actors/tools/mcp/elicitation-form.ts';
import type { JsonObject, JsonValue } from '../../../../src/machines/json.ts';

const form = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

/** The read schema of a field; `null` if the whole form is refused. */
function fieldOf(field: JsonValue): JsonValue {
  const read = readForm(form({ a: field }));
  return read === null ? null : ((read['properties'] as JsonObject)['a'] ?? null);
}

describe('the form of a question', () => {
  it.each<[string, JsonValue, JsonValue]>([
    [
      'a string with only its limits and texts',
      { type: 'string', title: 'A', maxLength: 3, pattern: '^(a+)+$', enumNames: ['x'], $ref: '#' },
      { title: 'A', maxLength: 3, type: 'string' },
    ],
    [
      'a string without invisible characters',
      { type: 'string', title: 'A\u202e' },
      { title: 'A', type: 'string' },
    ],
    ['choices', { type: 'string', enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    [
      'choices with titles',
      { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      { type: 'string', enum: ['a'] },
    ],
    [
      'several choices',
      { type: 'array', items: { anyOf: [{ const: 'a' }] }, maxItems: 1 },
      { maxItems: 1, type: 'array', items: { type: 'string', enum: ['a'] } },
    ],
    ['a valid default', { type: 'integer', default: 3 }, { type: 'integer', default: 3 }],
    ['no invalid default', { type: 'integer', default: '3' }, { type: 'integer' }],
    ['no object', { type: 'object', properties: {} }, null],
    ['no list of other values', { type: 'array', items: { type: 'string' } }, null],
    ['nothing without a type', {}, null],
    ['no string for a schema', 'string', null],
  ])('has %s', (_, said, read) => {
    expect(fieldOf(said)).toEqual(read);
  });

  it('has at most 20 fields of plain names, and requires none that it does not have', () => {
    const many = (count: number) =>
      form(
        Object.fromEntries(
          Array.from({ length: count }, (_, at) => [`f${at}`, { type: 'boolean' }]),
        ),
      );
    expect([readForm(many(20)) === null, readForm(many(21))]).toEqual([false, null]);
    expect(readForm(form({ 'a b': { type: 'string' } }))).toBeNull();
    expect(readForm(form({ ['__proto__']: { type: 'string' } }))?.['properties']).toEqual({
      ['__proto__']: { type: 'string' },
    });
    expect(readForm(form({ a: { type: 'string' } }, { required: ['a', 'b', 7] }))).toEqual(
      form({ a: { type: 'string' } }, { required: ['a'] }),
    );
    for (const said of [undefined, null, 7, [], {}, { properties: [] }]) {
      expect(readForm(said)).toBeNull();
    }
  });
});

describe('the answer to a question', () => {
  const asked = readForm(
    form(
      {
        text: { type: 'string', minLength: 2, maxLength: 3 },
        one: { type: 'string', enum: ['a', 'b'] },
        some: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 },
        count: { type: 'integer', minimum: 1, maximum: 9 },
        share: { type: 'number' },
        sure: { type: 'boolean' },
      },
      { required: ['count'] },
    ),
  ) as JsonObject;
  const fits = { text: 'ab', one: 'b', some: ['a', 'b'], count: 9, share: 0.5, sure: false };

  it('is valid, whole and in part', () => {
    expect([formFault(asked, fits), isComplete(asked, fits)]).toEqual([null, true]);
    expect([formFault(asked, {}), isComplete(asked, {})]).toEqual([null, false]);
    expect(isComplete(asked, { count: 1 })).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ['text', { text: 'a' }],
    ['text', { text: 'abcd' }],
    ['text', { text: 7 }],
    ['one', { one: 'c' }],
    ['some', { some: [] }],
    ['some', { some: ['a', 'c'] }],
    ['some', { some: 'a' }],
    ['count', { count: 0 }],
    ['count', { count: 10 }],
    ['count', { count: 1.5 }],
    ['count', { count: '5' }],
    ['share', { share: null }],
    ['sure', { sure: 'false' }],
  ])('is invalid in %s (%j)', (field, values) => {
    const answer = { ...fits, ...values };
    expect(formFault(asked, answer)).toBe(`the field ${field} has another form; see its schema`);
    expect(isComplete(asked, answer)).toBe(false);
  });

  it('has no inherited fields', () => {
    expect(formFault(asked, { ...fits, other: 1 })).toBe('the question has no field other');
    expect(formFault(asked, { constructor: 'x' })).toBe('the question has no field constructor');
    expect(formFault(asked, 'yes')).toBe('answer is no object of fields');
  });
});
