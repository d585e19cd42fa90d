import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, holdpoint, refundAgent, startDaemon } from '../cli/holdpoint.ts';
import { type AgentClient, saying } from '../helpers/agent-client.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

afterAll(cleanUp);

/** An agent that refills nothing while a test lasts. */
function limited(limits: object): Promise<TestAgent> {
  const settings: ServiceSettings & { server: object } = {
    server: { rate_limit: { read_rps: 0.001, write_rps: 0.001, ...limits } },
  };
  return startTestAgent(settings, { noAuth: true });
}

const tooMany = {
  status: 429,
  body: { error: expect.stringMatching(/^too many requests; try again in \d+ s$/) },
};

const sentence = tooMany.body.error;

/** The same in the forms of the surfaces of A2A (docs/contract/a2a.md). */
const tooManyCalls = {
  status: 429,
  body: { jsonrpc: '2.0', id: null, error: { code: -32000, message: sentence } },
};
const tooManyRequests = {
  status: 429,
  body: { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: sentence } },
};

describe('the rate limit', () => {
  it('allows the burst, and answers the next with 429, Retry-After and the headers of every answer', async () => {
    const agent = await limited({ write_burst: 20 });
    const send = () => agent.post('/tasks/send', { message: saying('hi') });
    for (let count = 0; count < 20; count += 1) expect((await send()).status).toBe(200);
    const answer = await send();
    expect(answer).toMatchObject(tooMany);
    const { headers } = answer;
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-correlation-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    expect((await agent.get('/tasks')).status).toBe(200);
  });

  it('comes before authentication, and counts failed ones', async () => {
    const settings: ServiceSettings & { server: object } = {
      auth: { required: true },
      server: { rate_limit: { read_rps: 0.001, read_burst: 2 } },
    };
    const agent = await startTestAgent(settings);
    const found = [];
    for (let count = 0; count < 3; count += 1) found.push((await agent.get('/tasks')).status);
    expect(found).toEqual([401, 401, 429]);
    expect(await agent.as(agent.token).get('/tasks')).toMatchObject(tooMany);
    expect((await agent.get('/healthz')).status).toBe(200);
    expect((await agent.get('/readyz')).status).toBe(200);
  });

  it('is on by default', async () => {
    const agent = await startTestAgent({ server: {} } as ServiceSettings, { noAuth: true });
    const burst = await Promise.all(
      Array.from({ length: 400 }, () => agent.post('/tasks/t1/decisions', {})),
    );
    const statuses = burst.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([400, 429]));
    expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(100);
  });

  it.each([
    ['JSON-RPC', (agent: TestAgent) => agent.rpc('tasks/cancel', { id: 't1', reason: 'timeout' })],
    ['REST', (agent: TestAgent) => agent.post('/tasks/t1/cancel', { reason: 'timeout' })],
  ])('never delays a cancel by %s when it is exempt', async (_, cancel) => {
    const agent = await limited({ write_burst: 1 });
    const held = agent.send('t1', [{ tool: 'hold' }, { say: 'done' }]);
    await agent.reached('t1', 'working');
    expect(await agent.post('/tasks/send', { message: saying('hi') })).toMatchObject(tooMany);
    expect((await cancel(agent)).status).toBe(200);
    expect((await held).body.status).toMatchObject({ state: 'canceled' });
    expect((await cancel(agent)).status).toBe(200);
  });

  it.each([
    ['JSON-RPC', (agent: AgentClient) => agent.rpc('tasks/cancel', { id: 't1' }), tooManyCalls],
    ['REST', (agent: AgentClient) => agent.post('/tasks/t1/cancel', {}), tooMany],
    ['A2A 0.3.0', (agent: AgentClient) => agent.post('/v1/tasks/t1:cancel', {}), tooManyRequests],
    ['A2A 1.0', (agent: AgentClient) => agent.post('/a2a/tasks/t1:cancel', {}), tooManyRequests],
  ])(
    'delays an unauthenticated cancel by %s, and logs a thousand in two lines',
    async (_, cancel, refusal) => {
      const settings: ServiceSettings & { server: object } = {
        auth: { required: true },
        server: { rate_limit: { write_rps: 0.001, write_burst: 1 } },
      };
      const agent = await startTestAgent(settings);
      const stranger = agent.as('wrong');
      expect((await cancel(stranger)).status).toBe(401);
      for (let round = 0; round < 10; round += 1) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => cancel(stranger)));
        for (const answer of answers) expect(answer).toMatchObject(refusal);
      }
      await agent.stop();
      const told = agent.audit().filter(({ event }) => event === 'auth_fail');
      expect(told.map(({ fields }) => fields?.['count'])).toEqual([undefined, 100]);
    },
  );

  it('allows an authenticated cancel after a thousand unauthenticated ones from elsewhere', async () => {
    const settings: ServiceSettings & { server: object } = {
      auth: { required: true },
      server: {
        rate_limit: { write_rps: 0.001, write_burst: 1, trusted_proxies: ['loopback'] },
      },
    };
    const agent = await startTestAgent(settings);
    const cancel = (token: string, address: string) =>
      agent
        .as(token)
        .post('/tasks/t1/cancel', {}, { 'x-forwarded-for': address })
        .then(({ status }) => status);
    for (let tries = 0; tries < 150; tries += 1) await cancel('wrong', '192.0.2.1');
    expect(await cancel('wrong', '192.0.2.1')).toBe(429);
    const mine = [];
    for (let tries = 0; tries < 20; tries += 1) mine.push(await cancel(agent.token, '192.0.2.2'));
    expect(new Set(mine)).toEqual(new Set([404]));
  });

  it('counts a cancel like every write when it is not exempt', async () => {
    const agent = await limited({ write_burst: 1, cancel_exempt: false });
    expect((await agent.rpc('tasks/cancel', { id: 't1' })).body.error.code).toBe(-32001);
    expect(await agent.rpc('tasks/cancel', { id: 't1' })).toMatchObject(tooManyCalls);
    expect(await agent.post('/tasks/t1/cancel', {})).toMatchObject(tooMany);
  });

  it.each([
    ['another method', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 't1' } }],
    ['a malformed body', '{"jsonrpc":"2.0","id":1,"method":"tasks/cancel"'],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'tasks/cancel', params: { id: 't1' } }]],
  ])('counts %s as a write', async (_, body) => {
    const agent = await limited({ write_burst: 1 });
    expect((await agent.post('/', body)).status).toBe(200);
    expect(await agent.post('/', body)).toMatchObject(tooManyCalls);
  });

  it('counts every address separately, as a trusted proxy names it', async () => {
    const agent = await limited({ read_burst: 1, trusted_proxies: ['loopback'] });
    const from = async (address: string) =>
      (await agent.get('/tasks', { 'x-forwarded-for': address })).status;
    expect([await from('192.0.2.1'), await from('192.0.2.1')]).toEqual([200, 429]);
    expect([await from('192.0.2.2'), await from('2001:db8::1')]).toEqual([200, 200]);
    expect(await from('2001:db8::2')).toBe(429);
    expect(await from('203.0.113.9, 192.0.2.1')).toBe(429);
  });

  it('ignores forwarded addresses when no proxy is trusted', async () => {
    const agent = await limited({ read_burst: 1 });
    expect((await agent.get('/tasks', { 'x-forwarded-for': '192.0.2.1' })).status).toBe(200);
    expect((await agent.get('/tasks', { 'x-forwarded-for': '192.0.2.2' })).status).toBe(429);
  });
});

describe.concurrent('the limits of a daemon', () => {
  const yaml = 'agent_id: x\nserver: {rate_limit: {read_rps: 0.001, read_burst: 1}}\n';
  const env = { SERVICE_RATE_LIMIT_READ_BURST: '2', SERVICE_RATE_LIMIT_WRITE_BURST: '2' };
  const args = ['--no-auth', '--rate-limit-read-burst', '3'];
  it.each([
    ['the file', ['--no-auth'], {}, 1],
    ['the variables', ['--no-auth'], env, 2],
    ['the flags', args, env, 3],
  ])('from %s override the later sources', async (_, given, variables, burst) => {
    const directory = await refundAgent(yaml);
    const { url, stop } = await startDaemon(directory, { args: given, env: variables });
    const found = [];
    for (let count = 0; count <= burst; count += 1)
      found.push((await fetch(`${url}/tasks`)).status);
    expect(found).toEqual([...Array(burst).fill(200), 429]);
    expect((await stop()).code).toBe(0);
  });
});

describe.concurrent('an invalid limit', () => {
  it('is wrong usage as a flag', async () => {
    expect(await holdpoint(['run', '--rate-limit-read-rps', 'many'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        "error: option '--rate-limit-read-rps <n>' argument 'many' is invalid: it must be a number above 0 and at most 1000000; see holdpoint run --help\n",
    });
  });

  it('stops the start as a variable, by its name', async () => {
    const directory = await refundAgent();
    const env = { SERVICE_RATE_LIMIT_WRITE_BURST: 'lots' };
    expect(await holdpoint(['run', '--dir', directory, '--port', '0'], { env })).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'error: the variable SERVICE_RATE_LIMIT_WRITE_BURST must be a whole number from 1 to 1000000; fix it or unset it\n',
    });
  });

  it('is reported with its place in the file', async () => {
    const directory = await refundAgent(
      'agent_id: x\nserver:\n  cors_origins: ["https://a.example/"]\n  rate_limit: {trusted_proxies: [here]}\n',
    );
    const { code, stderr } = await holdpoint(['validate', '--dir', directory]);
    expect(code).toBe(5);
    expect(stderr).toContain('service.yaml:3:18: an origin is a scheme');
    expect(stderr).toContain('service.yaml:4:34: a trusted proxy is an address');
  });
});
