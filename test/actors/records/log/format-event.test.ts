import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBadLine, formatEvent } from '../../../../src/actors/records/log/audit.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';

const ts = '2026-07-01T09:00:00.000Z';

describe('formatEvent', () => {
  it('shows time, name, task and fields', () => {
    expect(
      formatEvent({
        ts,
        event: 'task_deferred_decision',
        task_id: 't-1',
        prev_hash: 'aa',
        fields: {
          tool: 'issue_refund',
          note: 'zu spät',
          wait_ms: 12,
          authorized: false,
          approvers: ['ann@example.com'],
          none: null,
        },
      }),
    ).toBe(
      `${ts} task_deferred_decision task=t-1 tool=issue_refund note="zu spät" wait_ms=12 ` +
        'authorized=false approvers=["ann@example.com"] none=null',
    );
  });

  it('works without a task and fields', () => {
    expect(formatEvent({ ts, event: 'checkpoint' })).toBe(`${ts} checkpoint`);
    expect(formatEvent({ ts, event: 'checkpoint', fields: [1] })).toBe(`${ts} checkpoint`);
  });

  it('quotes ambiguous values', () => {
    const fields = { a: '', b: 'x=y', c: 'say "no"', d: 'C:\\new', e: ' ' };
    expect(formatEvent({ ts, event: 'x', fields })).toBe(
      `${ts} x a="" b="x=y" c="say \\"no\\"" d="C:\\\\new" e=" "`,
    );
  });

  it('escapes control and format characters', () => {
    const fields = {
      note: '\u001b[2Jok\r\n\u009b1m\u202e\u2028\u200d\ud83d\u{e0041}',
      list: ['\u009b'],
    };
    expect(formatEvent({ ts, event: 'x\u0007', task_id: '\u0085', fields })).toBe(
      `${ts} "x\\u0007" task="\\u0085" ` +
        'note="\\u001b[2Jok\\r\\n\\u009b1m\\u202e\\u2028\\u200d\ufffd\\udb40\\udc41" list=["\\u009b"]',
    );
  });

  it('shortens long values', () => {
    expect(
      formatEvent({ ts, event: 'x', fields: { a: '🧾'.repeat(81), b: ['y'.repeat(99)] } }),
    ).toBe(`${ts} x a=${'🧾'.repeat(80)}… b=["${'y'.repeat(78)}…`);
  });

  it('never emits a terminal control', () => {
    const text = fc.string({ unit: 'binary' });
    const value = fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(text, text, fc.dictionary(text, value), (event, task, fields) => {
        const line = formatEvent({ ts, event, task_id: task, fields });
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });
});

describe('formatBadLine', () => {
  it.each([
    ['nonsense', 'bad line: "nonsense"'],
    ['', 'bad line: ""'],
    ['\u001b[2J"\u202e', 'bad line: "\\u001b[2J\\"\\u202e"'],
    ['🧾'.repeat(81), `bad line: "${'🧾'.repeat(80)}…"`],
  ])('shows the beginning of %j without terminal controls', (text, shown) => {
    expect(formatBadLine(text)).toBe(shown);
  });
});
