import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvHeader, csvLine } from '../../../../src/actors/records/log/audit.ts';

const row = (event: object): string => csvLine(Buffer.from(JSON.stringify(event)));

it('CSV has the keys of a line as columns, and its fields as JSON', () => {
  expect(csvHeader).toBe(
    'ts,event,seq,correlation_id,task_id,workflow_id,workflow_execution_id,stage_id,step_id,invocation_caller,' +
      'org_id,workspace_id,entity_id,entity_type,trace_id,span_id,fields,prev_hash,kid,sig\r\n',
  );
  const event = {
    ts: 'now',
    event: 'x',
    seq: 1,
    task_id: 't-1',
    entity_id: 'refunds',
    fields: { n: 1 },
  };
  expect(row({ ...event, prev_hash: '00' })).toBe(
    'now,x,1,,t-1,,,,,,,,refunds,,,,"{""n"":1}",00,,\r\n',
  );
});

it('CSV quotes cell separators, and marks formulas', () => {
  const event = {
    ts: 'now',
    event: 'x',
    correlation_id: '=cmd()',
    task_id: 'a "b",\n',
    workflow_id: '@sum',
  };
  expect(row(event)).toBe(`now,x,,'=cmd(),"a ""b"",\n",'@sum,,,,,,,,,,,,,,\r\n`);
});

it.each([
  ['x;=1+1', "x;'=1+1"],
  ['x; \t=1', "x; \t'=1"],
  ['\u00a0=1', "\u00a0'=1"],
  ['\ufeff=1', "\ufeff'=1"],
  ['＝1+1', "'＝1+1"],
  ['\u200b＠x', "\u200b'＠x"],
  ['1+1', '1+1'],
  ['a=b;c', 'a=b;c'],
])('CSV marks %j as %j', (text, marked) => {
  expect(row({ ts: 'now', event: 'x', correlation_id: text })).toBe(
    `now,x,,${marked},,,,,,,,,,,,,,,,\r\n`,
  );
});

it('no CSV cell is a formula under any separator', () => {
  const parts = [
    '=',
    '+',
    '-',
    '@',
    '＝',
    ';',
    ',',
    '"',
    '\n',
    '\r',
    '\t',
    ' ',
    '\u00a0',
    '\ufeff',
    'x',
  ];
  const begins = /^[\s\p{C}"]*[=+\-@＝]/u;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts)), (chosen) => {
      const text = chosen.join('');
      const line = row({ ts: 'now', event: 'x', correlation_id: text, fields: { text } });
      const ignoringQuotes = line.split(/[;\t\r\n]/);
      const honouringQuotes = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, bare = '']) => quoted?.replaceAll('""', '"') ?? bare,
      );
      expect([...ignoringQuotes, ...honouringQuotes].filter((cell) => begins.test(cell))).toEqual(
        [],
      );
    }),
  );
});

it('CSV has no row for a line without an event', () => {
  expect(csvLine(Buffer.from('nonsense'))).toBe('');
});
