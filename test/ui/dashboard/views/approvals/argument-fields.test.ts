import { describe, expect, it } from 'vitest';
import {
  type ArgumentField,
  argumentFields,
  changedNames,
  typedArguments,
} from '../../../../../src/ui/dashboard/views/approvals/argument-fields.ts';

const schema = {
  properties: {
    amount: { type: 'integer', description: 'In cents.' },
    rate: { type: 'number' },
    currency: { enum: ['EUR', 'USD'] },
    note: { type: 'string' },
    urgent: { type: 'boolean' },
    any: {},
  },
  required: ['amount'],
};

const kinds = (fields: ArgumentField[]) =>
  Object.fromEntries(fields.map(({ name, kind }) => [name, kind]));

function typed(field: Partial<ArgumentField>) {
  const base = { name: 'a', kind: 'json', choices: [], description: '' } as const;
  return typedArguments([{ ...base, isRequired: true, isSent: true, text: '', ...field }]);
}

describe('the fields of a call', () => {
  it('have the types of the schema, and include arguments that it does not name', () => {
    const fields = argumentFields({ note: 'x', amount: 5, more: { a: 1 } }, schema);
    expect(fields.slice(0, 3)).toEqual([
      {
        ...{ name: 'note', kind: 'text', choices: [], description: '', isRequired: false },
        ...{ isSent: true, text: 'x' },
      },
      {
        ...{ name: 'amount', kind: 'integer', choices: [], description: 'In cents.' },
        ...{ isRequired: true, isSent: true, text: '5' },
      },
      {
        ...{ name: 'more', kind: 'json', choices: [], description: '', isRequired: false },
        ...{ isSent: true, text: '{\n  "a": 1\n}' },
      },
    ]);
    expect(kinds(fields)).toEqual({
      ...{ note: 'text', amount: 'integer', more: 'json', rate: 'number', currency: 'choice' },
      ...{ urgent: 'boolean', any: 'json' },
    });
    expect(fields.slice(3).map(({ isSent }) => isSent)).toEqual([false, false, false, false]);
  });

  it('keep a value of another type as JSON', () => {
    const odd = { amount: '5', rate: null, currency: 'GBP', note: 1, urgent: 'yes' };
    const fields = argumentFields(odd, schema);
    expect(new Set(fields.map(({ kind }) => kind))).toEqual(new Set(['json']));
    expect(typedArguments(fields).args).toEqual(odd);
  });

  it('produce the original arguments', () => {
    const args = {
      ...{ amount: 5, rate: 1.5, currency: 'USD', note: ' a\n', urgent: false },
      ...{ any: [1, { b: null }], constructor: 'x' },
    };
    const fields = argumentFields(args, schema);
    expect(typedArguments(fields)).toEqual({ args, faults: null });
    expect(changedNames(args, fields)).toEqual([]);
  });
});

describe('a typed value', () => {
  it.each<[Partial<ArgumentField>, unknown]>([
    [{ kind: 'text', text: '5' }, '5'],
    [{ kind: 'integer', text: '5' }, 5],
    [{ kind: 'number', text: '0.5' }, 0.5],
    [{ kind: 'boolean', text: 'true' }, true],
    [{ text: '{"a": [1]}' }, { a: [1] }],
  ])('%j is %j', (field, value) => {
    expect(typed(field).args).toEqual({ a: value });
  });

  it.each<[Partial<ArgumentField>, string]>([
    [{ kind: 'integer', text: '1.5' }, 'Enter a whole number.'],
    [{ kind: 'integer', text: '' }, 'Enter a number, such as 12.5.'],
    [{ kind: 'number', text: '"5"' }, 'Enter a number, such as 12.5.'],
    [{ text: '{' }, 'Enter valid JSON.'],
    [
      { text: '[9007199254740993]' },
      'the number 9007199254740993 cannot be read without changing it; send it as a string.',
    ],
    [{ text: '{"a": 1, "a": 2}' }, 'a key is repeated in one object; send each key once.'],
  ])('%j is a fault: %s', (field, fault) => {
    expect(typed(field)).toEqual({ args: null, faults: new Map([['a', fault]]) });
  });

  it('is omitted where it is not sent', () => {
    expect(typed({ isSent: false, text: '{' })).toEqual({ args: {}, faults: null });
  });
});

it('the differences from the call are named', () => {
  const args = { amount: 5, any: { a: 1, b: [2] }, note: 'x' };
  const fields = argumentFields(args, schema).map((field) => {
    if (field.name === 'amount') return { ...field, text: '5.0' };
    if (field.name === 'any') return { ...field, text: '{"b": [2], "a": 2}' };
    if (field.name === 'urgent') return { ...field, isSent: true };
    return field.name === 'note' ? { ...field, isSent: false } : field;
  });
  expect(changedNames(args, fields)).toEqual(['any', 'note', 'urgent']);
});
