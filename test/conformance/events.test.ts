import { describe, expect, it, vi } from 'vitest';
import type { AgentClient } from '../helpers/agent-client.ts';
import { EventReader, type StreamedEvent } from '../helpers/event-reader.ts';
import { deferring, startTestAgent } from '../helpers/test-agent.ts';
import { startTestSurface } from '../helpers/test-surface.ts';

async function follow(client: AgentClient, lastEventId?: string): Promise<EventReader> {
  const abort = new AbortController();
  const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
  const response = await client.open('GET', '/events', { signal: abort.signal, headers });
  return new EventReader(response, abort);
}

/** Matches the event that tells a task in a state. */
const tells =
  (id: string, state: string) =>
  ({ event, data }: StreamedEvent): boolean =>
    event === 'task' && data.id === id && data.state === state;

const waits = ({ event, data }: StreamedEvent) => event === 'deferral' && data.tool !== undefined;

describe('GET /events', () => {
  it('begins with reset, and sends each change of each task, and each wait with its call', async () => {
    const agent = await startTestAgent(deferring());
    const stream = await follow(agent);
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
    });
    expect(await stream.next()).toEqual({ id: expect.any(String), event: 'reset', data: {} });
    const held = agent.send('t1', [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }]);
    const events = await stream.until(waits);
    const { body: task } = await agent.get('/tasks/t1');
    const { body: deferral } = await agent.get(`/deferrals/${task.metadata.deferral.id}`);
    expect(events.slice(-2)).toEqual([
      {
        id: expect.any(String),
        event: 'task',
        data: {
          id: 't1',
          context_id: task.contextId,
          state: 'deferred',
          changed_at: task.status.timestamp,
          text: task.status.message.parts[0].text,
          tool: 'pay',
        },
      },
      { id: expect.any(String), event: 'deferral', data: deferral },
    ]);
    await agent.decide('t1', { decision: 'approve' });
    const after = await stream.until(tells('t1', 'completed'));
    expect(after.find(({ event }) => event === 'deferral')?.data).toEqual({
      task_id: 't1',
      deferral: null,
    });
    expect(after.at(-1)?.data).toMatchObject({ text: 'paid' });
    expect(after.at(-1)?.data.tool).toBeUndefined();
    await held;
    const ids = [...events, ...after].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    stream.leave();
  });

  it('continues after the last received event, with the current tasks', async () => {
    const agent = await startTestAgent(deferring());
    const first = await follow(agent);
    const seen = (await first.next())?.id;
    first.leave();
    await agent.send('t1', [{ say: 'one' }]);
    const held = agent.send('t2', [{ tool: 'pay', args: {} }]);
    await agent.reached('t2', 'deferred');
    const second = await follow(agent, seen);
    const events = await second.until(waits);
    expect(events.map(({ event, data }) => [event, data.id ?? data.task_id, data.state])).toEqual([
      ['task', 't1', 'completed'],
      ['task', 't2', 'deferred'],
      ['deferral', expect.any(String), undefined],
    ]);
    const third = await follow(agent, events[1]?.id);
    expect((await third.until(waits)).map(({ event }) => event)).toEqual(['task', 'deferral']);
    second.leave();
    third.leave();
    await agent.decide('t2', { decision: 'reject' });
    await held;
  });

  it.each(['none', '0123abcd.1', '0.0', '99999999999999999999', 'x'.repeat(4_000)])(
    'starts again after %s, which it has not sent',
    async (id) => {
      const { client } = await startTestSurface();
      const stream = await follow(client, id);
      expect(await stream.next()).toMatchObject({ event: 'reset' });
      stream.leave();
    },
  );

  it('ends when the agent stops', async () => {
    const { client, system } = await startTestSurface();
    const stream = await follow(client);
    await stream.next();
    await system.drain(0);
    expect(await stream.rest()).toEqual([]);
  });

  it('drops disconnected subscribers', async () => {
    const { client, system } = await startTestSurface();
    for (let round = 0; round < 50; round += 1) {
      const streams = await Promise.all(Array.from({ length: 8 }, () => follow(client)));
      for (const stream of streams) {
        await stream.next();
        stream.leave();
      }
    }
    await client.request('HEAD', '/events');
    await vi.waitFor(() => expect(system.feed.followers).toBe(0), { timeout: 30_000 });
  }, 60_000);
});
