import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTestSurface } from '../../helpers/test-surface.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('an idle stream', () => {
  it('is kept open by a comment every 4 seconds', async () => {
    const gate = Promise.withResolvers<string>();
    const { client } = await startTestSurface({ tools: { wait: () => gate.promise } });
    const before = vi.getTimerCount();
    const stream = await client.subscribe('t1', [{ tool: 'wait' }, { say: 'x' }]);
    await stream.until(({ data }) => data.phase === 'tool_start');
    vi.advanceTimersByTime(3_999);
    expect(stream.comments).toEqual([]);
    for (let beat = 1; beat <= 3; beat += 1) {
      vi.advanceTimersByTime(beat === 1 ? 1 : 4_000);
      while (stream.comments.length < beat) await stream.read();
    }
    expect(stream.comments).toEqual(['keep-alive', 'keep-alive', 'keep-alive']);
    gate.resolve('');
    expect((await stream.rest()).at(-1)?.event).toBe('result');
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(before));
  });

  it('leaves no timer behind when its client goes', async () => {
    const gate = Promise.withResolvers<string>();
    const { client } = await startTestSurface({ tools: { wait: () => gate.promise } });
    const before = vi.getTimerCount();
    const streams = [await client.subscribe('t1', [{ tool: 'wait' }])];
    while (streams.length < 20) streams.push(await client.stream('/tasks/t1/events'));
    expect(vi.getTimerCount()).toBe(before + 20);
    for (const stream of streams) stream.leave();
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(before));
    gate.resolve('');
  });
});
