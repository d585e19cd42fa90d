import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnReader, SharedValues } from '../../../../src/actors/records/store/shared-values.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';

const text = 'x'.repeat(2_000);

function written(...columns: unknown[]) {
  const shared = new SharedValues();
  const json = columns.map((column) => shared.json(column));
  const values = Object.fromEntries(shared.values.map(({ digest, value }) => [digest, value]));
  return { json, values };
}

function readBack(...columns: unknown[]) {
  const { json, values } = written(...columns);
  return json.map(columnReader(JSON.stringify(values)));
}

describe('the columns of a task', () => {
  it('hold a large value once, also in another column, as another object and within a string', () => {
    const args = { text };
    const columns = [
      { args, shown: { text }, context: `pay ${JSON.stringify(args)} now` },
      { history: [{ data: { args } }] },
    ];
    const { json, values } = written(...columns);
    expect(json.join().split(text)).toHaveLength(1);
    expect(Object.values(values)).toEqual([JSON.stringify(args)]);
    expect(readBack(...columns)).toEqual(columns);
  });

  it('are written in time for a message of many large values and strings', () => {
    const some = (length: number) => Array.from({ length }, (_, at) => `${at}${text}`);
    const column = { args: [], said: some(400).map((each) => ({ args: { each } })) };
    const before = performance.now();
    written(
      column,
      some(400).map((context) => ({ context })),
    );
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it('hold small values and other keys as they are', () => {
    const column = { args: { a: 1 }, result: text };
    expect(written(column)).toEqual({ json: [JSON.stringify(column)], values: {} });
  });

  it('are read as they were written, with any arguments of a caller', () => {
    const key = fc.constantFrom('args', 'context', '@shared', 'shown', '__proto__', 'a');
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<JsonValue>(null, 1, 'x', text, `{"a":"${text}"}`, [text]),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .array(fc.tuple(key, tie('value')), { maxLength: 4 })
          .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as JsonValue),
      ),
    }));
    fc.assert(
      fc.property(value, value, (args, context) => {
        const columns = [{ args, context, shown: args }, { data: { args } }];
        expect(readBack(...columns)).toEqual(columns);
      }),
    );
  });

  it('are refused without the value of a reference', () => {
    const { json } = written({ args: { text } });
    expect(() => columnReader('{}')(json[0] ?? '')).toThrow(SyntaxError);
  });
});
