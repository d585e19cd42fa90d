import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferring, startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { ask, openStream, wireSurfaces } from './wire-surfaces.ts';

vi.setConfig({ testTimeout: 60_000 });

describe.each(wireSurfaces)('a stream of $name', (surface) => {
  const start = async (agent: TestAgent, script: object[]) => {
    const stream = await openStream(agent, surface, 'stream', { message: surface.playing(script) });
    const first = await stream.next();
    const result = surface.resultOf(first?.data);
    return { stream, first, id: (result.task ?? result).id as string };
  };

  it('numbers its events without names, and ends with the task', async () => {
    const agent = await startTestAgent(deferring());
    const { stream, first, id } = await start(agent, [{ tool: 'pay' }, { say: 'paid' }]);
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-correlation-id': expect.any(String),
    });
    await agent.reached(id, 'deferred');
    await agent.decide(id, { decision: 'approve' });
    const events = [first, ...(await stream.rest())];
    expect(events.map((event) => event?.id)).toEqual(events.map((_, index) => String(index + 1)));
    expect(events.map((event) => event?.event)).toEqual(events.map(() => undefined));
    const last = surface.resultOf(events.at(-1)?.data);
    expect((last.statusUpdate ?? last).status.state).toBe(surface.state('completed'));
  });

  it.each([
    ['held at its first step', [{ tool: 'pay' }], ['working', 'auth-required', 'canceled']],
    ['completed at once', [{ say: 'hi' }], ['working', 'completed']],
    ['failed at once', [{ tool: 'ghost' }], ['working', 'failed']],
  ])('begins as submitted and sends each step of a task that is %s', async (_, script, states) => {
    const agent = await startTestAgent(deferring());
    const { stream, first, id } = await start(agent, script);
    const task = surface.resultOf(first?.data);
    expect((task.task ?? task).status).toEqual({
      state: surface.state('submitted'),
      timestamp: expect.any(String),
    });
    if (states.includes('auth-required')) {
      await agent.reached(id, 'deferred');
      await agent.post(`/tasks/${id}/cancel`);
    }
    const rest = (await stream.rest()).map(({ data }) => surface.resultOf(data));
    const told = rest.flatMap((result) => (result.statusUpdate ?? result).status ?? []);
    expect(told.map(({ state }: { state: string }) => state)).toEqual(states.map(surface.state));
  });

  it('begins with the requested number of messages', async () => {
    const agent = await startTestAgent(deferring());
    // The JSON of HTTP+JSON 0.3.0 does not distinguish none from an omitted length.
    const atZero = surface.name === 'HTTP+JSON 0.3.0' ? 1 : 0;
    for (const [historyLength, messages] of [
      [undefined, 1],
      [0, atZero],
      [1, 1],
    ]) {
      const configuration = historyLength === undefined ? {} : { historyLength };
      const asked = { message: surface.saying('hi'), configuration };
      const stream = await openStream(agent, surface, 'stream', asked);
      const task = surface.resultOf((await stream.next())?.data);
      expect((task.task ?? task).history?.length ?? 0).toBe(messages);
      await stream.rest();
    }
  });

  it('loses nothing when the caller disconnects', async () => {
    const agent = await startTestAgent(deferring());
    const { stream, id } = await start(agent, [{ tool: 'pay' }, { say: 'paid' }]);
    await agent.reached(id, 'deferred');
    stream.leave();
    const again = await openStream(agent, surface, 'subscribe', { id });
    const shown = surface.resultOf((await again.next())?.data);
    expect((shown.task ?? shown).status.state).toBe(surface.state('auth-required'));
    await agent.decide(id, { decision: 'approve' });
    await again.rest();
    expect((await agent.get(`/tasks/${id}`)).body.status.state).toBe('completed');
    expect(agent.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('logs no text of callers', async () => {
    const said: unknown[] = [];
    for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
      const spy = vi.spyOn(console, name).mockImplementation((...words) => void said.push(words));
      onTestFinished(() => spy.mockRestore());
    }
    const agent = await startTestAgent(deferring());
    const { stream, id } = await start(agent, [{ tool: 'pay' }, { say: 'paid' }]);
    await agent.reached(id, 'deferred');
    const authentication = { schemes: ['canary-one', 'canary-two'], credentials: 'canary' };
    const config = { url: 'http://127.0.0.1:1/canary', token: 'canary', authentication };
    await ask(agent, surface, 'setPush', { id, config });
    await ask(agent, surface, 'send', {
      message: { ...surface.saying('canary'), tenant: 'canary' },
    });
    await ask(agent, surface, 'send', { message: { parts: [null], content: [null] } });
    const left = agent.stop();
    await stream.rest();
    await left;
    expect(said).toEqual([]);
  });
});
