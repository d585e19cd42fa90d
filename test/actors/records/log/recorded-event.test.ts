import { describe, expect, it } from 'vitest';
import { recordedEvent } from '../../../../src/actors/records/log/recorded-event.ts';

const read = (line: string) => recordedEvent(Buffer.from(line));

describe('recordedEvent', () => {
  it('reads every field of a line', () => {
    const event = { event: 'x', ts: '', task_id: 't-1', seq: 3, fields: { note: 'zu spät' } };
    expect(read(JSON.stringify(event))).toStrictEqual(event);
    expect(read('{"event":"x","ts":""}')).toStrictEqual({ event: 'x', ts: '' });
  });

  it.each([
    'nonsense',
    '',
    'null',
    '[]',
    '"x"',
    '{"ts":""}',
    '{"event":"x"}',
    '{"event":1,"ts":""}',
    '{"event":"x","ts":1}',
    '{"event":"x","ts":"","task_id":1}',
  ])('is undefined for %s', (line) => {
    expect(read(line)).toBeNull();
  });
});
