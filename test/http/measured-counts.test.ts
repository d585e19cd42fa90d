import { describe, expect, it } from 'vitest';
import { MeasuredCounts } from '../../src/http/measured-counts.ts';

const wait = { type: 'wait', decision: 'approve', milliseconds: 1_500 } as const;

describe('MeasuredCounts', () => {
  it('counts calls by tool and outcome, and leaves them where they are', () => {
    const counts = new MeasuredCounts();
    const returned = { type: 'call', tool: 'pay', outcome: 'returned' } as const;
    for (const call of [returned, returned, { ...returned, outcome: 'failed' } as const]) {
      expect(counts.hear(call)).toBe(false);
    }
    const expected = [
      { ...returned, count: 2 },
      { ...returned, outcome: 'failed', count: 1 },
    ];
    expect([...counts.calls()]).toEqual(expected);
    expect([...counts.calls()]).toEqual(expected);
  });

  it('hands every time out once, and says when there are too many of them', () => {
    const counts = new MeasuredCounts();
    const heard = Array.from({ length: 1_001 }, () => counts.hear(wait));
    expect(heard.indexOf(true)).toBe(999);
    expect(counts.takeTimes()).toEqual(Array.from({ length: 1_001 }, () => wait));
    expect(counts.takeTimes()).toEqual([]);
    expect(counts.hear(wait)).toBe(false);
  });
});
