import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { chainLine, checkpoint, GENESIS } from '../../../../src/actors/records/log/audit.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';

const ts = '2026-07-01T09:00:00.000Z';

function recordedFields(fields: object): unknown {
  const event = { event: 'x', ts, fields: fields as Record<string, JsonValue> };
  return JSON.parse(chainLine(event, null).line).fields;
}

describe('chainLine', () => {
  it('writes sorted keys, the link and the hash of the bytes', () => {
    const { line, hash } = chainLine(
      { ts, event: 'session_end', task_id: 't-ä', fields: { state: 'failed' } },
      GENESIS,
    );
    expect(line).toBe(
      `{"event":"session_end","fields":{"state":"failed"},"prev_hash":"${GENESIS}",` +
        `"task_id":"t-ä","ts":"${ts}"}`,
    );
    expect(hash).toBe(createHash('sha256').update(Buffer.from(line, 'utf8')).digest('hex'));
  });

  it('orders keys by UTF-16 code units, as RFC 8785 does', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6', '10', '9'];
    const fields = Object.fromEntries(names.map((name) => [name, 0]));
    const { line } = chainLine({ event: 'x', ts, fields }, null);
    const order = ['\\r', '1', '10', '9', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33'];
    const members = order.map((name) => `"${name}":0`).join(',');
    expect(line).toBe(`{"event":"x","fields":{${members}},"ts":"${ts}"}`);
  });

  it('omits empty values, and keeps those that only look empty', () => {
    const event = {
      event: 'x',
      ts,
      seq: 0,
      task_id: '',
      org_id: null as unknown as string,
      workspace_id: undefined as unknown as string,
      fields: { gone: undefined, text: '', none: null, no: false, zero: -0, list: [], object: {} },
    };
    expect(chainLine(event, null).line).toBe(
      '{"event":"x","fields":{"list":[],"no":false,"none":null,"object":{},"text":"","zero":0},' +
        `"seq":0,"ts":"${ts}"}`,
    );
    expect(chainLine({ event: 'x', ts, fields: { gone: undefined } }, null).line).toBe(
      `{"event":"x","ts":"${ts}"}`,
    );
  });

  it('does not change its input', () => {
    const event = Object.freeze({
      event: 'x',
      ts,
      task_id: '',
      fields: Object.freeze({ a: '\ud800' }),
    });
    chainLine(event, GENESIS);
    expect(event).toStrictEqual({ event: 'x', ts, task_id: '', fields: { a: '\ud800' } });
  });

  it('makes every string and name well-formed and keeps it on one line', () => {
    const event = {
      event: 'x\n',
      ts,
      fields: { 'k\udc00': ['a\r\nb\u2028', { deep: '\ud83d' }] },
    };
    expect(chainLine(event, null).line).toBe(
      `{"event":"x\\n","fields":{"k\ufffd":["a\\r\\nb\u2028",{"deep":"\ufffd"}]},"ts":"${ts}"}`,
    );
  });

  it('keeps members whose names become equal', () => {
    expect(recordedFields({ '\ud800': 1, '\ud801': 2, '\ufffd~1': 3 })).toStrictEqual({
      '\ufffd': 1,
      '\ufffd~1': 2,
      '\ufffd~1~2': 3,
    });
  });

  it('omits an empty member named __proto__', () => {
    const event = JSON.parse(`{"event":"x","ts":"${ts}","__proto__":{}}`);
    expect(chainLine(event, null).line).toBe(`{"event":"x","ts":"${ts}"}`);
  });

  it('does not measure what is short in any encoding', () => {
    const measure = vi.spyOn(Buffer, 'byteLength');
    chainLine({ event: 'x', ts, fields: { note: 'zu spät 🧾' } }, GENESIS);
    expect(measure).not.toHaveBeenCalled();
  });

  it('keeps a member named __proto__', () => {
    const line = chainLine({ event: 'x', ts, fields: JSON.parse('{"__proto__":{"a":1}}') }, null);
    expect(line.line).toBe(`{"event":"x","fields":{"__proto__":{"a":1}},"ts":"${ts}"}`);
  });

  it('writes numbers that JSON cannot carry as strings', () => {
    expect(
      recordedFields({
        safe: Number.MAX_SAFE_INTEGER,
        unsafe: 2 ** 53,
        negative: -(2 ** 53),
        huge: 1e300,
        fraction: 0.1,
        nan: Number.NaN,
        infinite: Number.NEGATIVE_INFINITY,
        big: 12345678901234567890n,
      }),
    ).toStrictEqual({
      safe: 9007199254740991,
      unsafe: '9007199254740992',
      negative: '-9007199254740992',
      huge: '1e+300',
      fraction: 0.1,
      nan: 'NaN',
      infinite: '-Infinity',
      big: '12345678901234567890',
    });
  });

  it('drops values without a JSON form, and writes null for them in a list', () => {
    const run = () => 1;
    expect(recordedFields({ run, list: [run, undefined, 1] })).toStrictEqual({
      list: [null, null, 1],
    });
  });

  it('keeps 16 levels and marks deeper ones and circles', () => {
    const nested = (levels: number): JsonValue => (levels === 0 ? 'end' : [nested(levels - 1)]);
    expect(recordedFields({ a: nested(14) })).toStrictEqual({ a: nested(14) });
    const text = JSON.stringify(recordedFields({ a: nested(15) }));
    expect(text).toBe(`{"a":${'['.repeat(14)}"[omitted: nested too deep]"${']'.repeat(14)}}`);
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(JSON.stringify(recordedFields(circle))).toContain('[omitted: nested too deep]');
  });

  it('cuts a string above 16 KiB between code points and states its size', () => {
    const limit = 16 * 1024;
    expect(recordedFields({ a: 'x'.repeat(limit) })).toStrictEqual({ a: 'x'.repeat(limit) });
    const { a } = recordedFields({ a: '🧾'.repeat(5000) }) as { a: string };
    const marker = ' [cut: 20000 bytes in all]';
    expect(a).toBe('🧾'.repeat(Math.floor((limit - marker.length) / 4)) + marker);
    expect(Buffer.byteLength(a)).toBeLessThanOrEqual(limit);
  });

  it('replaces the fields of a line that would be longer than 4 MiB', () => {
    const long = Array.from({ length: 300 }, () => 'x'.repeat(16 * 1024));
    const size = Buffer.byteLength(JSON.stringify({ event: 'x', fields: { long }, ts }));
    expect(recordedFields({ long })).toStrictEqual({
      cut: `fields left out: the line had ${size} bytes`,
    });
  });
});

describe('a checkpoint', () => {
  it('states the head of the log', () => {
    expect(checkpoint(ts, { count: 7, head: 'ab' })).toStrictEqual({
      event: 'checkpoint',
      ts,
      fields: { count: 7, head: 'ab' },
    });
  });
});
