import { describe, expect, it } from 'vitest';
import { GENESIS, verdictSentence } from '../../../../src/actors/records/log/audit.ts';

describe('verdictSentence', () => {
  it('reports an intact log', () => {
    expect(verdictSentence({ ok: true, events: 12, signed: 3, head: GENESIS })).toBe(
      '12 events, chain intact, 3 signed',
    );
  });

  it('reports the error and the line', () => {
    const reason = 'prev_hash does not match the previous line';
    expect(
      verdictSentence({
        ok: false,
        file: 'a.ndjson',
        line: 7,
        seq: 3,
        event: 'tool_exec',
        reason,
        expected: 'aa',
        actual: 'bb',
      }),
    ).toBe(`a.ndjson:7 (tool_exec, seq 3): ${reason}; expected aa, found bb`);
    expect(
      verdictSentence({ ok: false, file: 'a.ndjson', line: 1, reason: 'the line is empty' }),
    ).toBe('a.ndjson:1: the line is empty');
  });

  it.each([
    [{ seq: 0 }, 'a.ndjson:1 (seq 0): sig is missing'],
    [{ event: 'x' }, 'a.ndjson:1 (x): sig is missing'],
    [{ event: '' }, 'a.ndjson:1: sig is missing'],
  ])('describes a line by its known fields: %j', (known, sentence) => {
    const reason = 'sig is missing';
    expect(verdictSentence({ ok: false, file: 'a.ndjson', line: 1, reason, ...known })).toBe(
      sentence,
    );
  });
});
