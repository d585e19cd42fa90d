import { describe, expect, it, vi } from 'vitest';
import { takesLine, type WantedLine } from '../../../../src/actors/records/log/wanted-line.ts';

const line = JSON.stringify({
  event: 'task_deferred_decision',
  fields: { decision: 'deny', note: 'approve of "t-2"' },
  task_id: 'refund "1"',
});

const takes = (wanted: Partial<WantedLine>, text = line) =>
  takesLine({ event: '', task: '', decision: '', ...wanted }, Buffer.from(text));

describe('takesLine', () => {
  it.each<Partial<WantedLine>>([
    {},
    { event: 'deferred' },
    { task: 'refund' },
    { task: '"1"' },
    { task: 'refund "1"', isWholeTask: true },
    { decision: 'deny' },
    { event: 'task_', task: 'fund "', decision: 'deny' },
  ])('accepts a line for %j', (wanted) => {
    expect(takes(wanted)).toBe(true);
  });

  it.each<Partial<WantedLine>>([
    { event: 'note' },
    { event: 'task deferred' },
    { task: 't-2' },
    { task: '"t-2"' },
    { task: 'refund', isWholeTask: true },
    { isWholeTask: true },
    { decision: 'approve' },
    { decision: 'den' },
    { event: 'deferred', task: 'fund', decision: 'approve' },
    { event: 'note', task: 'fund', decision: 'deny' },
    { event: 'deferred', task: 't-2', decision: 'deny' },
  ])('drops a line for %j', (wanted) => {
    expect(takes(wanted)).toBe(false);
  });

  it('drops a line without an object, even when all are wanted', () => {
    for (const text of ['', 'nonsense', '[]', 'null', '"x"']) expect(takes({}, text)).toBe(false);
  });

  it('treats a value that is not a string as empty', () => {
    const strange = '{"event":7,"fields":["deny"],"task_id":["refund"]}';
    expect(takes({}, strange)).toBe(true);
    expect(takes({ isWholeTask: true }, strange)).toBe(true);
    expect(takes({ event: '7' }, strange)).toBe(false);
    expect(takes({ task: 'refund' }, strange)).toBe(false);
    expect(takes({ decision: 'deny' }, strange)).toBe(false);
    expect(takes({ decision: 'deny' }, '{"decision":"deny"}')).toBe(false);
  });

  it('reads only its own part of the memory', () => {
    const bytes = Buffer.from(`refund-3${line}refund-3`);
    const own = new Uint8Array(bytes.buffer, bytes.byteOffset + 8, bytes.length - 16);
    expect(takesLine({ event: '', task: 'fund', decision: '' }, own)).toBe(true);
    expect(takesLine({ event: '', task: 'refund-3', decision: '' }, own)).toBe(false);
  });

  it.each<Partial<WantedLine>>([{ event: 'egress' }, { task: 't-3' }, { decision: 'redact' }])(
    'drops a line without the words of %j by its bytes, without parsing it',
    (wanted) => {
      const parse = vi.spyOn(JSON, 'parse');
      expect(takes(wanted)).toBe(false);
      expect(parse).not.toHaveBeenCalled();
    },
  );
});
