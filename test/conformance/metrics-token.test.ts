import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../src/agent/start/read-start.ts';
import { startKeyServer } from '../actors/access/auth/key-server.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, launchAgent, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';
import { SurfaceRoutes } from './surface-routes.ts';

const scrape = 'canary-9d2c-metrics-token';
const ops = 'canary-77e0-ops-token';
const env = { SERVICE_METRICS_TOKEN: scrape, OPS_TOKEN: ops };
const metrics = { token_env: 'SERVICE_METRICS_TOKEN' };
const server = {
  metrics,
  mcp: true,
  rate_limit: { read_rps: 1e6, read_burst: 1e6, write_rps: 1e6, write_burst: 1e6 },
};
const providers = [{ type: 'static_token', name: 'ops', settings: { token_env: 'OPS_TOKEN' } }];

const unauthorized = (message: string) => ({
  status: 401,
  body: { error: 'unauthorized', code: 'unauthorized', message },
});
const missing = unauthorized('send a bearer token in the Authorization header');
const unknown = unauthorized('the bearer token is unknown');
const elsewhere = 'the token is for GET /metrics alone; sign in to the agent';

async function answerOf(
  agent: TestAgent,
  token: string | null,
  method = 'GET',
  path = '/metrics',
  body?: unknown,
) {
  const client = token === null ? agent : agent.as(token);
  const answer = await client.request(method, path, body === undefined ? {} : { body });
  return { status: answer.status, body: answer.body };
}

describe('a scrape', () => {
  const kinds = {
    'no authentication': { server },
    'a static token': { server, auth: { required: true, providers } },
  };

  it.each(Object.entries(kinds))('of an agent with %s needs a token', async (_, settings) => {
    const agent = await startTestAgent(settings, { env });
    expect(await answerOf(agent, null)).toEqual(missing);
    expect((await answerOf(agent, null, 'GET', '/metrics/')).status).toBe(401);
    expect(await answerOf(agent, `${scrape}x`)).toEqual(unknown);
    expect(await answerOf(agent, scrape.slice(0, -1))).toEqual(unknown);
    for (const token of [scrape, agent.token]) {
      const { status, body } = await answerOf(agent, token);
      expect([status, String(body).startsWith('# HELP')]).toEqual([200, true]);
    }
    expect((await answerOf(agent, scrape, 'HEAD')).status).toBe(200);
  });

  it('of an agent with JSON web tokens needs one of them, or its own', async () => {
    const issuer = await startKeyServer();
    const settings = { issuer: issuer.issuer, audience: 'agent' };
    const auth = { required: true, providers: [{ type: 'oidc', name: 'staff', settings }] };
    const agent = await startTestAgent({ server, auth }, { env });
    expect(await answerOf(agent, null)).toEqual(missing);
    expect(await answerOf(agent, 'a.b.c')).toEqual(unknown);
    expect((await answerOf(agent, scrape)).status).toBe(200);
    expect((await answerOf(agent, await issuer.sign())).status).toBe(200);
  });

  it('counts towards the limit of its address', async () => {
    const rate_limit = { read_rps: 0.001, read_burst: 2 };
    const agent = await startTestAgent({ server: { metrics, rate_limit } }, { env });
    const ask = async () => (await agent.as(scrape).get('/metrics')).status;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
  });
});

describe.each([
  ['off', {}],
  ['on', { required: true, providers }],
])('with authentication %s, the metrics token', (_, auth) => {
  let agent: TestAgent;
  beforeAll(async () => {
    agent = await launchAgent({ ...deferring(), server, auth }, { env });
    return () => agent.close();
  });

  const paths = [
    'GET /nothing',
    'POST /metrics',
    'DELETE /metrics',
    'GET /metrics/',
    'GET /METRICS',
  ];
  const open = /^GET \/(healthz|readyz|openapi.json|\.well-known\/.*|metrics)?$/;
  const ways = new SurfaceRoutes()
    .all()
    .filter((way) => /^(GET|POST|DELETE) \//.test(way) && !open.test(way));

  it.each([...ways, ...paths, 'POST /', 'POST /mcp', 'GET /mcp'])(
    'does not open %s',
    async (way) => {
      const [method = '', path = ''] = way.split(' ');
      const place = path.replaceAll(/(?<!\\):\w+/g, 'x').replaceAll('\\', '');
      const body = method === 'POST' ? {} : undefined;
      const answer = await answerOf(agent, scrape, method, place, body);
      expect(answer.status).toBe(401);
      expect(JSON.stringify(answer.body)).toContain(elsewhere);
    },
  );

  it('decides nothing, and represents no person', async () => {
    const caller = auth === undefined || !('required' in auth) ? agent : agent.as(ops);
    const held = caller.send('held', [{ tool: 'pay' }, { say: 'paid' }]);
    await vi.waitFor(
      async () => expect((await caller.get('/tasks/held')).body.status.state).toBe('deferred'),
      patient,
    );
    const decided = await agent.as(scrape).decide('held', { decision: 'approve' });
    expect(decided.status).toBe(401);
    const acting = await agent.as(scrape).get('/metrics', { 'X-Service-On-Behalf-Of': 'ann' });
    expect(acting.status).toBe(200);
    await caller.decide('held', { decision: 'reject', reason: 'no' });
    await held;
    expect(agent.folder.paid).toEqual([]);
  });
});

it('the scrape is named in the log, and never the token', async () => {
  const agent = await startTestAgent({ server, auth: { required: true, providers } }, { env });
  await agent.as(scrape).get('/metrics');
  await agent.as(scrape).get('/tasks');
  const events = () => agent.audit().filter(({ event }) => event.startsWith('auth_'));
  await vi.waitUntil(() => events().length === 2, patient);
  expect(
    events().map(({ event, fields }) => [event, fields?.['provider'] ?? fields?.['reason']]),
  ).toEqual([
    ['auth_verify', 'metrics'],
    ['auth_fail', 'invalid'],
  ]);
  const told = readFileSync(agent.auditPath, 'utf8') + JSON.stringify(agent.log);
  expect(told).not.toContain(scrape);
});

it('the metrics token is in no script, and in no stored text', async () => {
  const folder = new AgentFolder({ server });
  writeFileSync(join(folder.path, 'scripts', 'echo.sh'), 'env > "$SERVICE_AGENT_DIR/env"; cat\n');
  const agent = await startTestAgent({}, { folder, env });
  const { body } = await agent.send('one', [
    { tool: 'echo', args: { text: scrape } },
    { say: `it is ${scrape}` },
  ]);
  expect(body.status.state).toBe('completed');
  expect(readFileSync(join(folder.path, 'env'), 'utf8')).not.toContain(scrape);
  expect(readFileSync(agent.auditPath, 'utf8')).not.toContain(scrape);
});

describe('an agent does not start', () => {
  const start = (settings: object, variables: NodeJS.ProcessEnv) =>
    startTestAgent(settings, { env: variables }).then(
      () => 'started',
      (error: unknown) =>
        error instanceof ConfigError
          ? error.problems.map(({ message }) => message).join()
          : (error as Error).message,
    );
  const named = (rest: string) => `the environment variable SERVICE_METRICS_TOKEN ${rest}`;

  it.each([
    ['no token', undefined, named('is not set; it must hold the token')],
    ['an empty token', '', named('is not set; it must hold the token')],
    [
      'a short token',
      'x'.repeat(15),
      named('must have 16 to 512 characters; create one with openssl rand -hex 32'),
    ],
    [
      'a line end in the token',
      `${scrape}\n`,
      named(
        'has a character that no bearer token can have, such as a space; use letters and digits',
      ),
    ],
  ])('with %s', async (_, token, message) => {
    expect(await start({ server }, { SERVICE_METRICS_TOKEN: token })).toBe(message);
  });

  it('with the variable of a provider', async () => {
    const settings = { server: { metrics: { token_env: 'OPS_TOKEN' } }, auth: { providers } };
    expect(await start(settings, env)).toBe(
      'a provider signs callers in with OPS_TOKEN, so the monitoring system could call the agent; use another variable',
    );
  });

  it('with the value of another token', async () => {
    const both = { SERVICE_METRICS_TOKEN: ops, OPS_TOKEN: ops };
    const shared = (place: string) =>
      `the token of server.metrics in SERVICE_METRICS_TOKEN is also another secret ${place}; create a token that opens the metrics alone`;
    expect(await start({ server, auth: { providers } }, both)).toBe(shared('in OPS_TOKEN'));
    const headers = { Authorization: `Bearer ${ops}` };
    const shop = { name: 'shop', url: 'http://127.0.0.1:9/', headers, tools: { deny: [] } };
    expect(await start({ server, mcp: { servers: [shop] } }, both)).toBe(shared('in service.yaml'));
    const inline = [{ type: 'static_token', name: 'ops', settings: { token: ops } }];
    expect(await start({ server, auth: { providers: inline } }, both)).toBe(
      shared('in service.yaml'),
    );
  });

  it('with the variable of a script', async () => {
    const folder = new AgentFolder({ server: { metrics: { token_env: 'SCRAPE_TOKEN' } } });
    const skill = join(folder.path, 'SKILL.md');
    const declared = 'metadata: {service: {requires: {env: {required: [SCRAPE_TOKEN]}}}}';
    const text = readFileSync(skill, 'utf8');
    writeFileSync(skill, text.replace('description: ', `${declared}\ndescription: `));
    const start = startTestAgent({}, { folder, env: { SCRAPE_TOKEN: scrape } });
    await expect(start).rejects.toThrow(
      'the scripts of a skill receive SCRAPE_TOKEN, the token of server.metrics; use another variable for one of the two',
    );
    folder.remove();
  });

  it('with a provider named like the scrape in the log', async () => {
    const named = [{ ...providers[0], name: 'metrics' }];
    expect(await start({ server, auth: { providers: named } }, env)).toBe(
      "this is the name of the daemon's own token; choose another",
    );
  });
});
