import { expect, it } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const desk = 'https://desk.example.com';

function startAgent(origins: string[]): Promise<TestAgent> {
  const settings: ServiceSettings & { server: object } = {
    auth: { required: true },
    server: { cors_origins: origins },
  };
  return startTestAgent(settings);
}

/** The headers of an answer that have to do with origins. */
function shared({ headers }: { headers: Headers }): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'),
  );
}

const readable = {
  'access-control-allow-origin': desk,
  'access-control-expose-headers':
    'X-Correlation-ID,Retry-After,WWW-Authenticate,X-Service-Tokens-In,X-Service-Tokens-Out,X-Service-Model,X-Service-Duration-Ms',
  vary: 'Origin',
};

it('a listed origin can read answers, including refusals', async () => {
  const agent = await startAgent([desk]);
  const answers = [
    await agent.as(agent.token).get('/tasks', { origin: desk }),
    await agent.get('/tasks', { origin: desk }),
    await agent.as(agent.token).get('/nowhere', { origin: desk }),
    await agent.as(agent.token).post('/tasks/send', '{', { origin: desk }),
  ];
  expect(answers.map((answer) => [answer.status, shared(answer)])).toEqual([
    [200, readable],
    [401, readable],
    [404, readable],
    [400, readable],
  ]);
});

it('a preflight is answered with 204, the methods and the headers, without a token', async () => {
  const agent = await startAgent([desk]);
  const headers = {
    origin: desk,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  const answer = await agent.request('OPTIONS', '/tasks/send', { headers });
  expect([answer.status, answer.body, shared(answer)]).toEqual([
    204,
    '',
    {
      'access-control-allow-origin': desk,
      'access-control-allow-methods': 'GET,HEAD,POST',
      'access-control-allow-headers':
        'Authorization,Content-Type,Last-Event-ID,X-Correlation-ID,traceparent',
      'access-control-max-age': '600',
      vary: 'Origin',
    },
  ]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'x-correlation-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-content-type-options': 'nosniff',
  });
});

it.each([[[]], [[desk]]])(
  'another origin gets no CORS header when %j is listed',
  async (origins) => {
    const agent = await startAgent(origins);
    const asking = { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' };
    const answer = await agent.request('OPTIONS', '/tasks/send', { headers: asking });
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'POST']);
    const vary = origins.length === 0 ? {} : { vary: 'Origin' };
    expect(shared(answer)).toEqual(vary);
    expect(shared(await agent.get('/tasks', asking))).toEqual(vary);
  },
);

it('any origin is allowed with a star, and never with credentials', async () => {
  const agent = await startAgent(['*']);
  const answer = await agent.as(agent.token).get('/tasks', { origin: desk });
  expect([answer.status, shared(answer)]).toEqual([
    200,
    { ...readable, 'access-control-allow-origin': '*' },
  ]);
});
