import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../../src/actors/ports/tool.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { runs } from '../../../helpers/runs.ts';
import { aBuiltin } from './a-builtin.ts';
import { aRun } from './isolated-script.ts';

async function call(name: string, args: JsonObject, signal?: AbortSignal): Promise<string> {
  const tool = await aBuiltin(name);
  return tool.run(args, aRun(signal === undefined ? {} : { signal }));
}

/** The longest time that the daemon did nothing else while something ran, in milliseconds. */
async function longestLag(run: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await run().finally(() => clearInterval(timer));
  return longest;
}

describe('the arguments of a tool that only computes', () => {
  // Many times what is needed here, and a small part of what each would take on the loop.
  const bearable = 500;

  const endless: [string, JsonObject, string][] = [
    [
      'json_query',
      {
        json: JSON.stringify(Array(2_000).fill(Array(20).fill({ a: [] }))),
        path: '$[?@..*][?@..*][?count($..*) > 1]',
      },
      'took longer than 5 s and was stopped; ask for less',
    ],
    [
      'json_query',
      { json: JSON.stringify(['a'.repeat(40)]), path: '$[?match(@, "(a|a)*b")]' },
      'took longer than 5 s and was stopped; ask for less',
    ],
  ];

  // Each takes five seconds of a processor.
  it.each(endless.slice(0, runs(endless.length)))(
    'stop %s in time, and do not block the agent',
    async (name, args, message) => {
      await call(name, { json: '1', path: '$' });
      let failure: unknown;
      const lag = await longestLag(() =>
        call(name, args).catch((error: unknown) => void (failure = error)),
      );
      expect(failure).toEqual(new ToolError(`${name} ${message}`));
      expect(lag).toBeLessThan(bearable);
    },
  );

  it('use only the memory of the tool', async () => {
    const args = { json: '[[[[[[1]]]]]]', path: `$${'[0,0,0,0,0,0,0,0,0,0]'.repeat(6)}` };
    const wide = JSON.stringify([[[[[['x'.repeat(900_000)]]]]]]);
    await expect(call('json_query', { ...args, json: wide })).rejects.toThrow(ToolError);
    expect(await call('json_query', { json: '[1]', path: '$' })).toBe('[[1]]');
  });

  it('are dropped with its task', async () => {
    const task = new AbortController();
    const slow = { json: JSON.stringify(['a'.repeat(40)]), path: '$[?match(@, "(a|a)*b")]' };
    const stopped = call('json_query', slow, task.signal);
    setImmediate(() => task.abort());
    await expect(stopped).rejects.toEqual(
      new ToolError('json_query was stopped because its task was'),
    );
  });

  it('cannot read the environment of the daemon', async () => {
    expect(await call('json_query', { json: '{"__proto__": {"a": 1}}', path: '$..a' })).toBe('[1]');
    expect(await call('json_query', { json: '{}', path: '$.constructor' })).toBe('[]');
  });
});

describe('json_query', () => {
  const json = '{"orders":[{"id":"A-1","total":120.5},{"id":"A-2","total":9}],"x y":null}';

  it.each([
    ['$.orders[*].id', '["A-1","A-2"]'],
    ['$.orders[?@.total > 100].id', '["A-1"]'],
    ["$['x y']", '[null]'],
    ['$..total', '[120.5,9]'],
    ['$.nothing', '[]'],
  ])('answers %s with %s', async (path, expected) => {
    expect(await call('json_query', { json, path })).toBe(expected);
  });

  it.each([
    [{ json: '{', path: '$' }, 'argument json is not JSON'],
    [{ json: '{}', path: 'orders' }, /^json_query: argument path is not an RFC 9535 query: /],
    [{ json: '{}', path: '$[' }, /^json_query: argument path is not an RFC 9535 query: /],
    [{ json: '{}' }, 'argument path is missing'],
    [{ json: JSON.stringify('x'.repeat(1024 * 1024)), path: '$' }, 'larger than 1 MiB'],
  ])('refuses %j', async (args, problem) => {
    await expect(call('json_query', args)).rejects.toThrow(problem);
  });
});

describe('csv_parse', () => {
  it.each<[JsonObject, object]>([
    [
      { csv: '\ufeffid,name\r\n1,"a ""b"",\nc"\r\n\r\n2,\r\n' },
      {
        columns: ['id', 'name'],
        rows: [
          ['1', 'a "b",\nc'],
          ['2', ''],
        ],
        total: 2,
      },
    ],
    [
      { csv: 'a;b', delimiter: ';', header: false },
      { columns: null, rows: [['a', 'b']], total: 1 },
    ],
    [
      { csv: 'n\n1\n2\n3', offset: 1, limit: 1 },
      { columns: ['n'], rows: [['2']], total: 3 },
    ],
    [{ csv: '' }, { columns: [], rows: [], total: 0 }],
    [
      { csv: '__proto__,__proto__\n1,2' },
      { columns: ['__proto__', '__proto__'], rows: [['1', '2']], total: 1 },
    ],
  ])('reads %j', async (args, expected) => {
    expect(JSON.parse(await call('csv_parse', args))).toEqual(expected);
  });

  it.each([
    ['a\n"b', 'csv_parse: argument csv cannot be read as CSV: a quoted value has no end at line 2'],
    ['a\nx"y"', /^csv_parse: argument csv cannot be read as CSV: a quote is in the middle/],
  ])('refuses %j without quoting it', async (csv, problem) => {
    await expect(call('csv_parse', { csv })).rejects.toThrow(problem);
  });
});

describe('math_calculate', () => {
  it.each([
    ['0.1 + 0.2', '0.3'],
    ['19.99 * 3', '59.97'],
    ['12345678901234567890 + 1', '12345678901234567891'],
    ['2 + 3 * 4', '14'],
    ['2 ^ 3 ^ 2', '512'],
    ['-2 ^ 2', '-4'],
    ['(-2) ^ 2', '4'],
    ['2 ^ -3 ^ 2', '0.001953125'],
    ['- -2 ^ 2', '4'],
    ['-5 % 3', '-2'],
    ['round(2.5) + round(-2.345, 2)', '0.65'],
    ['sqrt (16) + max(1, 2, 3)', '7'],
    ['mean(1, 2, 4)', '2.333333333333333333333333333333333'],
    ['log(8, 2) + PI - pi', '3'],
    ['factorial(20)', '2432902008176640000'],
    ['sign(-3)', '-1'],
  ])('calculates %s as %s', async (expression, expected) => {
    expect(await call('math_calculate', { expression })).toBe(expected);
  });

  it('adds and multiplies whole numbers exactly', async () => {
    const numbers = fc.maxSafeInteger();
    await fc.assert(
      fc.asyncProperty(numbers, numbers, async (one, other) => {
        const [a, b] = [BigInt(one), BigInt(other)];
        const expression = `(${one}) * (${other}) - (${one})`;
        expect(await call('math_calculate', { expression })).toBe(String(a * b - a));
      }),
      { numRuns: 30 },
    );
  });

  const noMore = 'the expression holds something else than numbers, operators and functions';

  it.each([
    ['process.exit(1)', 'a call is unknown'],
    ['constructor', 'constructor is unknown; known names are abs, '],
    ['constructor.constructor("return 1")()', noMore],
    ['a["b"]', noMore],
    ['this', noMore],
    ['"x" + 1', 'the expression holds something that is no decimal number'],
    ['1; 2', noMore],
    ['x = 1', 'the expression'],
    ['[1]', noMore],
    ['true ? 1 : 2', noMore],
    ['1 > 2', 'the operator > is unknown'],
    ['1 / 0', 'the expression has no finite value'],
    ['9 ^ 9 ^ 9 ^ 9', 'the expression has no finite value'],
    ['sqrt(-1)', 'the expression has no finite value'],
    ['tan(9e990)', 'a number in the expression is too large for its function'],
    ['round(1, 2, 3)', 'round takes 1 to 2 numbers'],
    ['2 +', 'the expression cannot be read; write it like 2 * (3 + 4) ^ 2'],
    ['('.repeat(900), 'the expression cannot be read; write it like 2 * (3 + 4) ^ 2'],
  ])('refuses %s', async (expression, problem) => {
    await expect(call('math_calculate', { expression })).rejects.toThrow(
      `math_calculate: ${problem}`,
    );
  });

  it('is as exact after a failure as before', async () => {
    await expect(call('math_calculate', { expression: 'tan(9e990)' })).rejects.toThrow(ToolError);
    expect(await call('math_calculate', { expression: '1 / 3' })).toBe(
      '0.3333333333333333333333333333333333',
    );
  });
});
