import { describe, expect, it } from 'vitest';
import { serveDoor } from './serve-middleware.ts';

const desk = 'https://desk.example.com';
const other = 'https://evil.example.com';

/** The headers of an answer that have to do with origins. */
function shared({ headers }: { headers: Headers }): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'),
  );
}

const exposed =
  'X-Correlation-ID,Retry-After,WWW-Authenticate,X-Service-Tokens-In,X-Service-Tokens-Out,X-Service-Model,X-Service-Duration-Ms';
const asking = { 'access-control-request-method': 'POST' };
const agreed = {
  'access-control-allow-methods': 'GET,HEAD,POST',
  'access-control-allow-headers':
    'Authorization,Content-Type,Last-Event-ID,X-Correlation-ID,traceparent',
  'access-control-max-age': '600',
  vary: 'Origin',
};

describe('a listed origin', () => {
  it('is echoed', async () => {
    const { client } = await serveDoor({ origins: [other, desk] });
    const answer = await client.get('/tasks', { origin: desk });
    expect([answer.status, shared(answer)]).toEqual([
      200,
      {
        'access-control-allow-origin': desk,
        'access-control-expose-headers': exposed,
        vary: 'Origin',
      },
    ]);
  });

  it('gets its permitted headers in the preflight', async () => {
    const { client } = await serveDoor({ origins: [desk] });
    const headers = { origin: desk, ...asking, 'access-control-request-headers': 'x-evil' };
    const answer = await client.request('OPTIONS', '/tasks/send', { headers });
    expect([answer.status, answer.body, shared(answer)]).toEqual([
      204,
      '',
      { 'access-control-allow-origin': desk, ...agreed },
    ]);
  });

  it('can read errors, including a 429', async () => {
    const { client } = await serveDoor({ origins: [desk], limits: { writeBurst: 1 } });
    await client.post('/tasks/send', {});
    const answer = await client.post('/tasks/send', {}, { origin: desk });
    expect([answer.status, shared(answer)]).toEqual([
      429,
      {
        'access-control-allow-origin': desk,
        'access-control-expose-headers': exposed,
        vary: 'Origin',
      },
    ]);
  });
});

describe('an unlisted origin', () => {
  it.each([
    other,
    'https://desk.example.com:444',
    'http://desk.example.com',
    'https://desk.example.com.evil.example',
    'https://DESK.example.com',
    'null',
  ])('gets no header: %s', async (origin) => {
    const { client } = await serveDoor({ origins: [desk] });
    const simple = await client.get('/tasks', { origin });
    const asked = await client.request('OPTIONS', '/tasks', { headers: { origin, ...asking } });
    expect([simple.status, shared(simple), shared(asked)]).toEqual([
      200,
      { vary: 'Origin' },
      { vary: 'Origin' },
    ]);
  });

  it('is every origin when none is listed', async () => {
    const { client } = await serveDoor();
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1', desk]) {
      expect(shared(await client.get('/tasks', { origin }))).toEqual({});
      const headers = { origin, ...asking };
      expect(shared(await client.request('OPTIONS', '/tasks', { headers }))).toEqual({});
    }
  });
});

describe('the star', () => {
  it('allows any origin, without credentials', async () => {
    const { client } = await serveDoor({ origins: ['*'] });
    for (const origin of [desk, other]) {
      expect(shared(await client.get('/tasks', { origin }))).toEqual({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': exposed,
        vary: 'Origin',
      });
      const headers = { origin, ...asking };
      const asked = await client.request('OPTIONS', '/tasks', { headers });
      expect([asked.status, shared(asked)]).toEqual([
        204,
        { 'access-control-allow-origin': '*', ...agreed },
      ]);
    }
  });
});

it('an OPTIONS without a preflight header is passed to the routes', async () => {
  const { client } = await serveDoor({ origins: [desk] });
  const answer = await client.request('OPTIONS', '/tasks', { headers: { origin: desk } });
  expect([answer.status, answer.body.sent]).toEqual([200, null]);
});
