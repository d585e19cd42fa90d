import { beforeAll, describe, expect, it } from 'vitest';
import type { AgentClient } from '../helpers/agent-client.ts';
import { deferring, launchAgent, type TestAgent } from '../helpers/test-agent.ts';

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let agent: TestAgent;

beforeAll(async () => {
  agent = await launchAgent(deferring());
  await agent.send('done', [{ say: 'hello' }]);
  return () => agent.close();
});

describe('a known path', () => {
  const json = 'application/json; charset=utf-8';
  it.each([
    ['GET', '/healthz', undefined, json, { status: 'ok' }],
    ['GET', '/readyz', undefined, json, { status: 'ready' }],
    ['GET', '/.well-known/service-audit-keys', undefined, json, { keys: [] }],
    ['GET', '/.well-known/audit-keys.json', undefined, json, { keys: [] }],
    ['GET', '/deferrals', undefined, json, { deferrals: [], total: 0 }],
    ['GET', '/sessions', undefined, json, { sessions: expect.any(Array) }],
    ['GET', '/tasks?state=failed', undefined, json, { tasks: [] }],
    ['GET', '/tasks/done', undefined, json, expect.objectContaining({ id: 'done', kind: 'task' })],
    ['POST', '/tasks/done/cancel', {}, json, expect.objectContaining({ id: 'done' })],
    [
      'GET',
      '/metrics',
      undefined,
      /^text\/plain/,
      expect.stringContaining('holdpoint_deferrals_pending 0'),
    ],
  ])('%s %s answers 200', async (method, path, body, type, expected) => {
    const answer = await agent.request(method, path, { body });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(type);
    expect(answer.body).toEqual(expected);
  });

  it.each([
    ['PUT', '/', 'HEAD, GET, POST'],
    ['DELETE', '/tasks/done', 'HEAD, GET'],
    ['PUT', '/tasks', 'HEAD, GET'],
    ['GET', '/tasks/done/decisions', 'POST'],
    ['GET', '/tasks/done/cancel', 'POST'],
    ['POST', '/tasks/done/events', 'HEAD, GET'],
    ['GET', '/tasks/send', 'POST'],
    ['GET', '/tasks/send/', 'POST'],
    ['GET', '/tasks/sendSubscribe', 'POST'],
    ['DELETE', '/tasks/send', 'POST'],
    ['PATCH', '/tasks/sendSubscribe', 'POST'],
    ['POST', '/sessions', 'HEAD, GET'],
    ['POST', '/deferrals', 'HEAD, GET'],
    ['POST', '/deferrals/x', 'HEAD, GET'],
    ['GET', '/deferrals/decisions', 'POST'],
    ['POST', '/healthz', 'HEAD, GET'],
    ['POST', '/readyz', 'HEAD, GET'],
    ['POST', '/metrics', 'HEAD, GET'],
    ['POST', '/.well-known/service-audit-keys', 'HEAD, GET'],
    ['POST', '/.well-known/audit-keys.json', 'HEAD, GET'],
    ['POST', '/.well-known/agent-card.json', 'HEAD, GET'],
    ['DELETE', '/.well-known/agent.json', 'HEAD, GET'],
    ['PROPFIND', '/tasks', 'HEAD, GET'],
    ['POST', '/openapi.json', 'HEAD, GET'],
    ['PURGE', '/', 'HEAD, GET, POST'],
  ])('%s %s answers 405 with Allow', async (method, path, allow) => {
    const { status, headers, body } = await agent.request(method, path);
    expect({ status, body }).toEqual({
      status: 405,
      body: { error: 'method not allowed', code: 'method_not_allowed' },
    });
    expect(methodsOf(headers)).toEqual(allow.split(', ').toSorted());
  });

  it.each([
    ['/', 'HEAD, GET, POST'],
    ['/tasks', 'HEAD, GET'],
    ['/tasks/send', 'POST'],
    ['/healthz', 'HEAD, GET'],
  ])('OPTIONS %s lists the allowed methods', async (path, allow) => {
    const { status, headers, body } = await agent.request('OPTIONS', path);
    expect({ status, body }).toEqual({ status: 204, body: '' });
    expect(methodsOf(headers)).toEqual(allow.split(', ').toSorted());
  });

  it.each(['/', '/openapi.json', '/healthz', '/tasks/done', '/tasks', '/metrics'])(
    'HEAD %s answers like GET, without the body',
    async (path) => {
      const [head, get] = [await agent.request('HEAD', path), await agent.get(path)];
      expect({ status: head.status, body: head.body }).toEqual({ status: 200, body: '' });
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    },
  );

  it('HEAD on the events of a running task returns at once', async () => {
    const held = agent.send('t1', [{ tool: 'pay', args: {} }, { say: 'ok' }]);
    await agent.reached('t1', 'deferred');
    const { status, headers } = await agent.request('HEAD', '/tasks/t1/events');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    expect((await held).body.status.state).toBe('completed');
  });
});

describe('an unknown path', () => {
  it.each([
    ['GET', '/nothing'],
    ['POST', '/tasks/done'],
    ['GET', '/tasks/done/events/more'],
    ['POST', '/tasks/a/b/decisions'],
    ['GET', '/.well-known/'],
    ['GET', '//evil.example/tasks'],
    ['OPTIONS', '/nothing'],
    ['PROPFIND', '/nothing'],
    ['GET', '/TASKS'],
  ])('%s %s answers 404', async (method, path) => {
    const { status, body } = await agent.request(method, path);
    const isKnown = method === 'POST' && path === '/tasks/done';
    expect({ status, body }).toEqual(
      isKnown
        ? { status: 405, body: { error: 'method not allowed', code: 'method_not_allowed' } }
        : { status: 404, body: { error: 'not found', code: 'not_found' } },
    );
  });
});

describe('a missing task', () => {
  const ids = [
    'none',
    'a%20b',
    'a%2Fb',
    '%00',
    '%C3%A9',
    'x'.repeat(129),
    '%2e%2e%2f%2e%2e',
    '..%5c',
  ];
  it.each(ids)('GET, cancel and events of %s answer 404', async (id) => {
    const notFound = { status: 404, body: { error: 'task not found', code: 'task_not_found' } };
    expect(await agent.get(`/tasks/${id}`)).toMatchObject(notFound);
    expect(await agent.post(`/tasks/${id}/cancel`)).toMatchObject(notFound);
    expect(await agent.get(`/tasks/${id}/events`)).toMatchObject(notFound);
    expect(await agent.decide(id, { decision: 'approve' })).toMatchObject({
      status: 404,
      body: { error: 'no pending deferral for task', code: 'deferral_not_found' },
    });
  });

  it.each(['/tasks/%', '/tasks/%zz', '/tasks/%E0%A4%A', '/tasks/%ff/cancel'])(
    'a path that is invalid, %s, is 400 or 404',
    async (path) => {
      const { status, body } = await agent.get(path);
      expect([400, 404, 405]).toContain(status);
      expect(body).toEqual({ error: expect.any(String), code: expect.any(String) });
    },
  );

  it('an unknown deferral is 404', async () => {
    expect(await agent.get('/deferrals/none')).toMatchObject({
      status: 404,
      body: { error: 'no pending deferral with this id', code: 'deferral_not_found' },
    });
  });
});

describe('the headers of every answer', () => {
  const rows: [string, (client: AgentClient) => Promise<{ headers: Headers }>, number][] = [
    ['200', (client) => client.get('/tasks/done'), 200],
    ['400', (client) => client.post('/tasks/send', '{'), 400],
    ['401', (client) => client.get('/tasks', { authorization: 'Bearer wrong' }), 401],
    ['404', (client) => client.get('/nothing'), 404],
    ['405', (client) => client.request('PUT', '/tasks'), 405],
    ['409', (client) => client.send('running', [{ say: 'x' }]), 409],
    ['413', (client) => client.post('/tasks/send', 'x'.repeat(2 * 1024 * 1024 + 1)), 413],
    ['415', (client) => client.post('/tasks/send', 'x', { 'content-type': 'text/plain' }), 415],
    ['an OPTIONS', (client) => client.request('OPTIONS', '/tasks'), 204],
    ['a JSON-RPC error', (client) => client.post('/', '{'), 200],
  ];

  it.each(rows)('are present on %s', async (_, ask, status) => {
    const running = agent.send('running', [{ tool: 'pay', args: {} }]);
    await agent.reached('running', 'deferred');
    const answer = (await ask(agent)) as { status: number; headers: Headers };
    expect(answer.status).toBe(status);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-correlation-id': expect.stringMatching(uuidV7),
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    await agent.post('/tasks/running/cancel');
    await running;
  });

  it('return the correlation id of the caller and write it to the audit log', async () => {
    const headers = { 'x-correlation-id': 'order-17:retry.2_b' };
    const body = { id: 'c1', message: { parts: [{ kind: 'text', text: 'hi' }] } };
    const answer = await agent.post('/tasks/send', body, headers);
    expect(answer.headers.get('x-correlation-id')).toBe('order-17:retry.2_b');
    expect(agent.audit('c1').map((line) => line.correlation_id)).toEqual(
      agent.audit('c1').map(() => 'order-17:retry.2_b'),
    );
    expect(agent.audit('c1').length).toBeGreaterThan(0);
  });

  it.each(['with blank', 'x'.repeat(129), '<script>', '"', 'a,b'])(
    'never repeat a malformed correlation id: %s',
    async (given) => {
      const { headers } = await agent.get('/healthz', { 'x-correlation-id': given });
      expect(headers.get('x-correlation-id')).toMatch(uuidV7);
    },
  );
});

function methodsOf(headers: Headers): string[] {
  return (headers.get('allow') ?? '').split(', ').toSorted();
}
