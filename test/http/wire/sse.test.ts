import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { patient } from '../../helpers/patient.ts';
import { startTestSurface } from '../../helpers/test-surface.ts';
import { nine } from '../../helpers/test-system.ts';

describe('an idle stream', () => {
  it('is kept open by a comment every 4 seconds', async () => {
    const gate = Promise.withResolvers<string>();
    const clock = new ManualClock(nine);
    const { client } = await startTestSurface({ clock, tools: { wait: () => gate.promise } });
    const before = clock.pending;
    const stream = await client.subscribe('t1', [{ tool: 'wait' }, { say: 'x' }]);
    await stream.until(({ data }) => data.phase === 'tool_start');
    clock.advance(3_999);
    expect(stream.comments).toEqual([]);
    for (let beat = 1; beat <= 3; beat += 1) {
      clock.advance(beat === 1 ? 1 : 4_000);
      while (stream.comments.length < beat) await stream.read();
    }
    expect(stream.comments).toEqual(['keep-alive', 'keep-alive', 'keep-alive']);
    gate.resolve('');
    expect((await stream.rest()).at(-1)?.event).toBe('result');
    await vi.waitFor(() => expect(clock.pending).toBe(before), patient);
  });

  it('shares one timer with all others, which stops at a disconnect', async () => {
    const gate = Promise.withResolvers<string>();
    const clock = new ManualClock(nine);
    const { client } = await startTestSurface({ clock, tools: { wait: () => gate.promise } });
    const before = clock.pending;
    const streams = [await client.subscribe('t1', [{ tool: 'wait' }])];
    while (streams.length < 20) streams.push(await client.stream('/tasks/t1/events'));
    expect(clock.pending).toBe(before + 1);
    for (const stream of streams) stream.leave();
    await vi.waitFor(() => expect(clock.pending).toBe(before), patient);
    gate.resolve('');
  });
});
