import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { saying } from '../helpers/agent-client.ts';
import { deferring, launchAgent, type TestAgent } from '../helpers/test-agent.ts';

let agent: TestAgent;

async function launch(): Promise<() => Promise<void>> {
  agent = await launchAgent(deferring());
  return () => agent.close();
}

describe('the list of tasks', () => {
  beforeEach(launch);

  it('is paged, newest first, and contains every task once', async () => {
    const ids = Array.from({ length: 7 }, (_, index) => `t${index}`);
    for (const id of ids) await agent.send(id, [{ say: id }]);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query: string = cursor === undefined ? '' : `&cursor=${cursor}`;
      const { status, body } = await agent.get(`/tasks?limit=3${query}`);
      expect(status).toBe(200);
      seen.push(...body.tasks.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(ids.toReversed());
    const whole = (await agent.get('/tasks')).body;
    expect(Object.keys(whole)).toEqual(['tasks']);
  });

  it('omits messages by default', async () => {
    await agent.send('t1', [{ say: 'hello' }]);
    const { history, artifacts, ...brief } = (await agent.get('/tasks/t1')).body;
    expect((await agent.get('/tasks')).body).toEqual({ tasks: [brief] });
    expect((await agent.get('/tasks?include=')).body).toEqual({ tasks: [brief] });
    expect((await agent.get('/tasks?include=artifacts')).body).toEqual({
      tasks: [{ ...brief, history, artifacts }],
    });
  });

  it('can be limited to a state', async () => {
    await agent.send('good', [{ say: 'x' }]);
    await agent.send('bad', [{ tool: 'break' }]);
    const held = agent.send('waiting', [{ tool: 'pay', args: {} }]);
    await agent.reached('waiting', 'deferred');
    const idsOf = async (state: string) =>
      (await agent.get(`/tasks?state=${state}`)).body.tasks.map(({ id }: { id: string }) => id);
    expect(await idsOf('completed')).toEqual(['good']);
    expect(await idsOf('failed')).toEqual(['bad']);
    expect(await idsOf('deferred')).toEqual(['waiting']);
    expect(await idsOf('canceled')).toEqual([]);
    expect(await idsOf('')).toEqual(['waiting', 'bad', 'good']);
    await agent.post('/tasks/waiting/cancel');
    await held;
  });
});

describe('a range of time', () => {
  beforeAll(launch);

  it('limits the list to the tasks created in it, both ends included', async () => {
    for (const id of ['t1', 't2', 't3']) await agent.send(id, [{ say: id }]);
    const idsOf = async (query: string) =>
      (await agent.get(`/tasks?${query}`)).body.tasks.map(({ id }: { id: string }) => id);
    const stands = await agent.get('/tasks?include=origin');
    const [, created] = stands.body.tasks.map(({ metadata }: any) => metadata.created_at);
    expect(await idsOf(`from=${created}&to=${created}`)).toEqual(['t2']);
    expect(await idsOf(`from=${created}`)).toEqual(['t3', 't2']);
    expect(await idsOf(`to=${created}`)).toEqual(['t2', 't1']);
    expect(await idsOf('from=1h&state=completed')).toEqual(['t3', 't2', 't1']);
    expect(await idsOf('to=1h')).toEqual([]);
  });
});

describe('a query', () => {
  beforeAll(launch);

  const limit = 'limit must be a whole number from 1 to 500';
  const cursor = 'cursor must be the next_cursor of the page before';
  const state = 'state must be one of submitted, working, deferred, completed, failed, canceled';
  const time = 'a time such as 2026-07-01T09:00:00Z, or a duration before now such as 7d';
  it.each([
    ['/tasks', 'limit=0', limit],
    ['/tasks', 'limit=501', limit],
    ['/tasks', 'limit=-1', limit],
    ['/tasks', 'limit=1.5', limit],
    ['/tasks', 'limit=1e2', limit],
    ['/tasks', 'limit=x', limit],
    ['/tasks', 'limit=1&limit=2', limit],
    ['/tasks', 'limit=9999999999999999999', limit],
    ['/tasks', 'cursor=x', cursor],
    ['/tasks', 'cursor=-1', cursor],
    ['/tasks', 'cursor=1%20OR%201', cursor],
    ['/tasks', 'cursor=1&cursor=2', cursor],
    ['/tasks', 'cursor=99999999999999999999', cursor],
    ['/tasks', 'state=waiting', state],
    ['/tasks', 'state=DEFERRED', state],
    ['/tasks', 'state=failed&state=failed', state],
    ['/tasks', 'include=history', 'include must be artifacts, origin, or artifacts,origin'],
    ['/tasks', 'include=constructor', 'include must be artifacts, origin, or artifacts,origin'],
    [
      '/tasks',
      'include=artifacts&include=artifacts',
      'include must be artifacts, origin, or artifacts,origin',
    ],
    ['/tasks', 'from=yesterday', `from must be ${time}`],
    ['/tasks', 'to=7', `to must be ${time}`],
    ['/tasks', 'from=7d&from=7d', `from must be ${time}`],
    ['/tasks', 'from=1d&to=7d', 'from must not be after to'],
    ['/deferrals', 'limit=0', limit],
    ['/deferrals', 'cursor=x', cursor],
  ])('%s?%s is refused with a message', async (path, query, error) => {
    expect(await agent.get(`${path}?${query}`)).toMatchObject({ status: 400, body: { error } });
  });

  it.each([
    'limit=',
    'cursor=',
    'state=',
    'from=&to=',
    'from=7d&to=0',
    'unknown=1',
    'limit=500',
    'cursor=999999999999999',
    '%%%',
    '=',
    '&&',
  ])('takes ?%s', async (query) => {
    expect(await agent.get(`/tasks?${query}`)).toMatchObject({ status: 200, body: { tasks: [] } });
  });
});

describe('historyLength', () => {
  beforeAll(launch);
  beforeAll(async () => {
    for (const text of ['one', 'two', 'three']) {
      await agent.post('/tasks/send', { id: 't1', message: saying(text) });
    }
  });

  const said = (query: string) =>
    agent
      .get(`/tasks/t1${query}`)
      .then(({ body }) => body.history?.map((message: any) => message.parts[0].text));

  it('keeps the latest messages', async () => {
    const all = ['one', 'echo: one', 'two', 'echo: two', 'three', 'echo: three'];
    expect(await said('')).toEqual(all);
    expect(await said('?historyLength=')).toEqual(all);
    expect(await said('?historyLength=2')).toEqual(all.slice(-2));
    expect(await said('?historyLength=6')).toEqual(all);
    expect(await said('?historyLength=1000')).toEqual(all);
    expect(await said('?historyLength=0')).toBeUndefined();
  });

  it.each(['-1', '1.5', 'x', '1&historyLength=2', '10000000'])('of %s is refused', async (text) => {
    expect(await agent.get(`/tasks/t1?historyLength=${text}`)).toMatchObject({
      status: 400,
      body: {
        error: 'historyLength must be a whole number from 0 to 1000000',
        code: 'invalid_query',
      },
    });
  });
});

describe('decisions', () => {
  beforeAll(launch);
  beforeAll(() => agent.send('t1', [{ tool: 'ghost' }]));

  const decisions = [
    {
      call_id: expect.any(String),
      tool: 'ghost',
      layer: 'intent_alignment',
      decision: 'deny',
      reason: 'unknown tool: ghost',
      duration_ms: expect.any(Number),
    },
  ];

  it('are shown on request, on both surfaces', async () => {
    expect((await agent.get('/tasks/t1?decisions=true')).body.metadata).toEqual({ decisions });
    const asked = await agent.rpc('tasks/get', { id: 't1', decisions: true });
    expect(asked.body.result.metadata).toEqual({ decisions });
  });

  it.each(['', '?decisions=', '?decisions=false'])('are omitted from GET%s', async (query) => {
    expect((await agent.get(`/tasks/t1${query}`)).body.metadata).toBeUndefined();
  });

  it.each(['1', 'yes', 'true&decisions=true'])('of %s are refused', async (text) => {
    expect(await agent.get(`/tasks/t1?decisions=${text}`)).toMatchObject({
      status: 400,
      body: { error: 'decisions must be true or false', code: 'invalid_query' },
    });
  });
});

describe('the list of deferrals', () => {
  beforeEach(launch);

  it('is paged, newest first', async () => {
    const held = [];
    for (const id of ['a', 'b', 'c']) {
      held.push(agent.send(id, [{ tool: 'pay', args: { id } }]));
      await agent.reached(id, 'deferred');
    }
    const first = (await agent.get('/deferrals?limit=2')).body;
    expect(first.deferrals.map((shown: any) => shown.task_id)).toEqual(['c', 'b']);
    const second = (await agent.get(`/deferrals?limit=2&cursor=${first.next_cursor}`)).body;
    expect(second.deferrals.map((shown: any) => shown.task_id)).toEqual(['a']);
    expect(second.next_cursor).toBeUndefined();
    for (const id of ['a', 'b', 'c']) await agent.post(`/tasks/${id}/cancel`);
    await Promise.all(held);
  });
});

describe('the history of a task with many runs', () => {
  beforeEach(launch);

  const run = async (text: string) =>
    (await agent.post('/tasks/send', { id: 'same', message: saying(text) })).body;

  it('keeps its newest 200 messages and the number of earlier ones', async () => {
    for (let index = 0; index < 100; index += 1) await run(String(index));
    expect((await run('one more')).metadata).toEqual({ history_left_out: 2 });
    const { history, metadata } = await run('the last');
    expect([history.length, metadata]).toEqual([200, { history_left_out: 4 }]);
    expect(history.slice(-2).map((message: any) => message.parts[0].text)).toEqual([
      'the last',
      'echo: the last',
    ]);
    const ids = history.map(({ messageId }: any) => messageId);
    expect(ids.at(-1)).toBe('same:answer:203');
    const asked = (await agent.get('/tasks/same?historyLength=1')).body;
    expect([asked.history.length, asked.metadata]).toEqual([1, metadata]);
  });

  it('stays within 1 MiB, and keeps a single larger message', async () => {
    const half = 'x'.repeat(300_000);
    const sizes: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      sizes.push(Buffer.byteLength(JSON.stringify((await run(half)).history)));
    }
    expect(sizes.every((size) => size < 1024 * 1024)).toBe(true);
    const { history, metadata } = await run('y'.repeat(1_200_000));
    expect(history.map(({ role, parts }: any) => [role, parts[0].text[0]])).toEqual([
      ['user', 'y'],
      ['agent', 'e'],
    ]);
    expect(metadata).toEqual({ history_left_out: 12 });
    expect((await run('small')).history).toHaveLength(3);
  });
});
