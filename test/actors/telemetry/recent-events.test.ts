import { describe, expect, it } from 'vitest';
import { RecentEvents } from '../../../src/actors/telemetry/event-stream.ts';

describe('RecentEvents', () => {
  it('keeps the newest events up to the count', () => {
    const recent = new RecentEvents({ count: 2, bytes: 100 });
    for (const event of ['a', 'b', 'c']) recent.add(event);
    expect(recent.all()).toEqual(['b', 'c']);
  });

  it('keeps the newest events up to the bytes', () => {
    const recent = new RecentEvents({ count: 100, bytes: 5 });
    for (const event of ['aa', 'é', 'cc']) recent.add(event);
    expect(recent.all()).toEqual(['é', 'cc']);
  });

  it('drops an event that is too large', () => {
    const recent = new RecentEvents({ count: 100, bytes: 5 });
    for (const event of ['aa', 'x'.repeat(6)]) recent.add(event);
    expect(recent.all()).toEqual([]);
  });
});
