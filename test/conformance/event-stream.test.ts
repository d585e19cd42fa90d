import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { playing, saying } from '../helpers/agent-client.ts';
import type { StreamedEvent } from '../helpers/event-reader.ts';
import { beginChat, chatEvent, endChat, startRawModel } from '../helpers/model-server.ts';
import { deferring, startTestAgent, textOf } from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'all is paid now' }];

/** What an event says, in one line. */
function gist({ event, data }: StreamedEvent): string {
  if (event === 'progress') return `progress ${data.phase} ${data.tool ?? data.text}`;
  return `${event} ${data.status.state}`;
}

describe('a stream', () => {
  it('shows status, progress and tokens in order, and the result last', async () => {
    const agent = await startTestAgent(deferring());
    const stream = await agent.subscribe('t1', script);
    expect(stream.response.status).toBe(200);
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-correlation-id': expect.any(String),
    });
    const before = await stream.untilState('deferred');
    expect(before.map(gist)).toEqual(['status working', 'status deferred']);
    await agent.decide('t1', { decision: 'approve' });
    const after = await stream.rest();
    expect(after.map(gist)).toEqual([
      'status working',
      'progress tool_start pay',
      'progress tool_end pay',
      'progress token all ',
      'progress token is ',
      'progress token paid ',
      'progress token now',
      'status completed',
      'result completed',
    ]);
    for (const { event, data } of after) {
      if (event === 'progress') expect(data.task_id).toBe('t1');
      else expect(data).toMatchObject({ kind: 'task', id: 't1' });
    }
    expect(after.at(-1)?.data).toEqual((await agent.get('/tasks/t1')).body);
    const ids = [...before, ...after].map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted(byPosition));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sends a failure as a status, then the result, then ends', async () => {
    const agent = await startTestAgent();
    const events = await (await agent.subscribe('t1', [{ tool: 'break' }])).rest();
    expect(events.map(gist).slice(-2)).toEqual(['status failed', 'result failed']);
    expect(textOf({ body: events.at(-1)?.data })).toMatch(
      /break failed with exit code 3: the till is stuck/,
    );
  });

  it('sends each step of a run that completes at once, in order', async () => {
    const agent = await startTestAgent();
    const events = await (await agent.subscribe('t1', [{ say: 'all done' }])).rest();
    expect(events.map(gist)).toEqual([
      'status working',
      'progress token all ',
      'progress token done',
      'status completed',
      'result completed',
    ]);
    const again = await (await agent.subscribe('t1', [{ say: 'done' }])).rest();
    expect(again.map(gist)).toEqual([
      'status working',
      'progress token done',
      'status completed',
      'result completed',
    ]);
    const ids = [...events, ...again].map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted(byPosition));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('contains the waiting deferral, as GET does', async () => {
    const agent = await startTestAgent(deferring());
    const stream = await agent.subscribe('t1', script);
    const deferred = (await stream.untilState('deferred')).at(-1)?.data;
    expect(deferred).toEqual((await agent.get('/tasks/t1')).body);
    await agent.post('/tasks/t1/cancel');
    expect((await stream.rest()).map(gist)).toEqual(['status canceled', 'result canceled']);
  });

  it('keeps every event on one line, for any text', async () => {
    const agent = await startTestAgent();
    const text =
      'a\nid: 9\nevent: result\ndata: {}\n\n\r\r\n\u2028\u2029\u0000 data: x \ud83d\ude00';
    const events = await (await agent.subscribe('t1', [{ say: text }])).rest();
    expect(events.map(({ event }) => event).filter((event) => event === 'result')).toEqual([
      'result',
    ]);
    const tokens = events.filter(({ event }) => event === 'progress');
    expect(tokens.map(({ data }) => data.text).join('')).toBe(text);
    expect(textOf({ body: events.at(-1)?.data })).toBe(text);
  });

  it('is refused before it begins when its body is invalid', async () => {
    const agent = await startTestAgent();
    const answer = await agent.post('/tasks/sendSubscribe', {});
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toMatch(/json/);
  });
});

describe('subscribing', () => {
  it('during a model turn sends the earlier part of the turn, and then the rest', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    const url = await startRawModel((response) => {
      beginChat(response, 'One, ', 'two, ');
      begun.resolve(response);
    });
    const model = { provider: 'openai-compatible', name: 'gpt', base_url: `${url}/v1` };
    const agent = await startTestAgent({ model });
    const first = await agent.stream('/tasks/sendSubscribe', {
      body: { id: 't1', message: saying('count') },
    });
    const words = ({ event, data }: StreamedEvent) => (event === 'progress' ? data.text : '');
    let heard = '';
    await first.until((event) => (heard += words(event)) === 'One, two, ');
    const joined = await agent.stream('/tasks/t1/events');
    const beginning = await joined.until(({ event }) => event === 'progress');
    expect(beginning.map(({ event, data }) => [event, data.text ?? data.status.state])).toEqual([
      ['status', 'working'],
      ['progress', 'One, two, '],
    ]);
    const response = await begun.promise;
    response.write(chatEvent({ content: 'three' }));
    endChat(response);
    const rest = await joined.rest();
    expect(rest.map(words).join('')).toBe('three');
    expect(rest.at(-1)).toMatchObject({
      event: 'result',
      data: { status: { state: 'completed' } },
    });
    first.leave();
  });

  it('to a finished task sends its end', async () => {
    const agent = await startTestAgent();
    await agent.send('t1', [{ say: 'done' }]);
    const events = await (await agent.stream('/tasks/t1/events')).rest();
    expect(events.map(gist)).toEqual(['status completed', 'result completed']);
    expect(events[1]?.data).toEqual((await agent.get('/tasks/t1')).body);
  });

  it('to a parked task sends its state, and then the outcome, to every subscriber', async () => {
    const agent = await startTestAgent(deferring());
    const held = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    const joiners = await Promise.all([1, 2, 3].map(() => agent.stream('/tasks/t1/events')));
    for (const joiner of joiners) {
      expect((await joiner.next())?.data).toEqual((await agent.get('/tasks/t1')).body);
    }
    await agent.decide('t1', { decision: 'reject', approver: 'ann' });
    for (const joiner of joiners) {
      expect((await joiner.rest()).map(gist)).toEqual(['status failed', 'result failed']);
    }
    expect((await held).body.status.state).toBe('failed');
  });

  it('sends the earlier part of a turn once', async () => {
    let model!: ServerResponse;
    const url = await startRawModel((response) => {
      model = response;
      beginChat(response, 'One, ', 'two, ');
    });
    const agent = await startTestAgent({
      model: { provider: 'openai-compatible', name: 'test', base_url: `${url}/v1` },
    });
    const first = await agent.stream('/tasks/sendSubscribe', {
      body: { id: 't1', message: saying('count') },
    });
    const texts: unknown[] = [];
    while (texts.join('') !== 'One, two, ') texts.push((await first.next())?.data.text ?? '');
    const joiner = await agent.stream('/tasks/t1/events');
    expect((await joiner.next())?.event).toBe('status');
    expect(await joiner.next()).toMatchObject({
      event: 'progress',
      data: { task_id: 't1', phase: 'token', text: 'One, two, ' },
    });
    model.write(chatEvent({ content: 'three.' }));
    endChat(model);
    const rest = (await joiner.rest()).filter(({ event }) => event === 'progress');
    expect(rest.map(({ data }) => data.text).join('')).toBe('three.');
  });
});

describe('Last-Event-ID', () => {
  it('at any point resumes without a repeated or a missing event', async () => {
    const agent = await startTestAgent(deferring());
    const stream = await agent.subscribe('t1', script);
    const before = await stream.untilState('deferred');
    await agent.decide('t1', { decision: 'approve' });
    const all = [...before, ...(await stream.rest())];
    const [status, result] = all.slice(-2);
    expect([status, result].map((event) => event && gist(event))).toEqual([
      'status completed',
      'result completed',
    ]);
    for (const { id = '' } of all) {
      const again = await (await agent.stream('/tasks/t1/events', { lastEventId: id })).rest();
      const expected = id === result?.id ? [] : id === status?.id ? [result] : [status, result];
      expect(again).toEqual(expected);
    }
  });

  it('of a parked task waits for the next event', async () => {
    const agent = await startTestAgent(deferring({}, { on_stream_disconnect: 'keep' }));
    const first = await agent.subscribe('t1', script);
    const lastEventId = (await first.untilState('deferred')).at(-1)?.id ?? '';
    first.leave();
    const second = await agent.stream('/tasks/t1/events', { lastEventId });
    await agent.decide('t1', { decision: 'approve' });
    const events = await second.rest();
    expect(events.map(gist)).toEqual([
      'status working',
      'progress tool_start pay',
      'progress tool_end pay',
      'progress token all ',
      'progress token is ',
      'progress token paid ',
      'progress token now',
      'status completed',
      'result completed',
    ]);
  });

  it.each(['', 'x', '-1.0', '999999.0', '1', '1.0.0', '9'.repeat(40)])(
    'with a foreign id, %j, starts from the beginning',
    async (lastEventId) => {
      const agent = await startTestAgent();
      await agent.send('t1', [{ say: 'done' }]);
      const events = await (await agent.stream('/tasks/t1/events', { lastEventId })).rest();
      expect(events.map(gist)).toEqual(['status completed', 'result completed']);
    },
  );
});

describe('a large task', () => {
  it('of nearly 2 MiB streams to its end', async () => {
    const agent = await startTestAgent(deferring());
    const text = 'x'.repeat(1_900_000);
    const message = { parts: [{ kind: 'text', text }, ...(playing(script) as any).parts] };
    const stream = await agent.stream('/tasks/sendSubscribe', { body: { id: 't1', message } });
    await stream.untilState('deferred');
    await agent.decide('t1', { decision: 'approve' });
    const events = await stream.rest();
    expect(gist(events.at(-1) as StreamedEvent)).toBe('result completed');
    expect(events.at(-1)?.data.history[0].parts[0].text).toBe(text);
    const joined = await (await agent.stream('/tasks/t1/events')).rest();
    expect(joined.map(gist)).toEqual(['status completed', 'result completed']);
  });

  it('of fifty thousand words streams to its end, with every word once', async () => {
    const agent = await startTestAgent();
    const say = Array.from({ length: 50_000 }, (_, index) => `w${index}`).join(' ');
    const events = await (await agent.subscribe('t1', [{ say }])).rest();
    const tokens = events.filter(({ event }) => event === 'progress');
    expect(tokens.map(({ data }) => data.text).join('')).toBe(say);
    expect(gist(events.at(-1) as StreamedEvent)).toBe('result completed');
    expect(textOf(await agent.post('/tasks/send', { message: saying('still here') }))).toBe(
      'echo: still here',
    );
  });
});

function byPosition(one = '', other = ''): number {
  const [a = 0, b = 0] = one.split('.').map(Number);
  const [c = 0, d = 0] = other.split('.').map(Number);
  return a - c || b - d;
}
