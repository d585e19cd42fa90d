import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { type RawAnswer, rawRequest } from '../helpers/raw-request.ts';
import { runs } from '../helpers/runs.ts';
import { startTestSurface } from '../helpers/test-surface.ts';

vi.setConfig({ testTimeout: 60_000 });

const methods = fc.constantFrom(
  'GET',
  'POST',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'PROPFIND',
);

const segment = fc.oneof(
  fc.constantFrom(
    'tasks',
    'send',
    'sendSubscribe',
    't1',
    'decisions',
    'cancel',
    'events',
    'deferrals',
    'healthz',
  ),
  fc.constantFrom(
    '..',
    '.',
    '%00',
    '%',
    '%ff',
    '%E0%A4%A',
    '%2e%2e',
    '%2F',
    '__proto__',
    'constructor',
    '*',
    ':id',
    '',
  ),
  fc
    .string({ unit: 'binary-ascii', maxLength: 20 })
    .map((text) => text.replaceAll(/[^!-~]|[#?]/g, '_')),
);

const path = fc
  .tuple(fc.array(segment, { maxLength: 5 }), fc.option(fc.webQueryParameters()))
  .map(([parts, query]) => `/${parts.join('/')}${query === null ? '' : `?${query}`}`);

const key = fc.oneof(
  fc.constantFrom(
    'id',
    'task',
    'message',
    'parts',
    'kind',
    'text',
    'data',
    'file',
    'script',
    'tool',
    'say',
    'args',
  ),
  fc.constantFrom(
    'decision',
    'approver',
    'note',
    'jsonrpc',
    'method',
    'params',
    'reason',
    'constructor',
    'toString',
  ),
  fc.string({ maxLength: 5 }),
);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom(
      't1',
      'text',
      'data',
      'file',
      'user',
      'approve',
      '2.0',
      'tasks/send',
      'tasks/get',
      '\ud800',
      '\u0000',
    ),
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.string(),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}));

const body = fc.oneof(
  value.map((content) => JSON.stringify(content)),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.json(),
);

const header = fc.tuple(
  fc.constantFrom(
    'X-Correlation-ID',
    'Last-Event-ID',
    'Content-Encoding',
    'Accept',
    'Authorization',
    'Cookie',
    'X-Other',
  ),
  fc
    .string({ unit: 'binary-ascii', maxLength: 40 })
    .map((text) => text.replaceAll(/[\r\n\0]/g, '')),
);

/** Nothing of ours may come out of an error, and every answer is hardened. */
function expectSound({ status, headers, body: said }: RawAnswer): void {
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).not.toBe(500);
  expect(headers).toMatchObject({
    'x-correlation-id': expect.any(String),
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': expect.stringMatching(/^no-store/),
  });
  if (status >= 400 && said !== '') {
    // On the surfaces of A2A an error is an object with its sentence in it.
    const { error } = JSON.parse(said) as { error: string | { message: string } };
    expect(typeof error === 'string' ? error : error.message).toMatch(/./);
  }
  expect(said).not.toMatch(/ {4}at |node_modules|\/src\//);
}

afterEach(() => {
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

it('any path, method and header is answered without an internal failure', async () => {
  const { client, log } = await startTestSurface();
  await client.send('t1', [{ say: 'x' }]);
  await fc.assert(
    fc.asyncProperty(
      methods,
      path,
      fc.array(header, { maxLength: 4 }),
      async (method, target, headers) => {
        // The events of all tasks are sent while a subscriber listens.
        fc.pre(method !== 'GET' || !/^\/events\/?(\?|$)/.test(target));
        const lines = [`${method} ${target} HTTP/1.1`, 'Host: a', 'Connection: close'];
        for (const [name, text] of headers) lines.push(`${name}: ${text}`);
        expectSound(await rawRequest(client.url, `${lines.join('\r\n')}\r\n\r\n`));
      },
    ),
    { numRuns: runs(400) },
  );
  expect(log).toEqual([]);
  expect((await client.get('/healthz')).status).toBe(200);
});

it('any body on any route is answered without an internal failure', async () => {
  const { client, log } = await startTestSurface({ tools: { pay: () => 'paid' } });
  const routes = fc.constantFrom(
    '/',
    '/tasks/send',
    '/tasks/sendSubscribe',
    '/tasks/t1/cancel',
    '/tasks/t1/decisions',
  );
  await fc.assert(
    fc.asyncProperty(routes, body, async (route, sent) => {
      const bytes = Buffer.from(sent).toString('latin1');
      const head = `POST ${route} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}`;
      expectSound(await rawRequest(client.url, `${head}\r\n\r\n${bytes}`));
    }),
    { numRuns: runs(600) },
  );
  expect(log).toEqual([]);
  expect((await client.get('/healthz')).status).toBe(200);
});

it('any well-formed message is answered with a task in the same form', async () => {
  const { client } = await startTestSurface({ tools: { pay: () => 'paid' } });
  const step = fc.oneof(
    fc.record({ say: fc.string({ unit: 'binary' }) }),
    fc.record({
      tool: fc.constantFrom('pay', 'none', '__proto__'),
      args: fc.dictionary(key, value, { maxKeys: 3 }),
    }),
  );
  const parts = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('text'), text: fc.string({ unit: 'binary' }) }),
      fc.record({ kind: fc.constant('data'), data: value }),
      fc.record({
        kind: fc.constant('data'),
        data: fc.record({ script: fc.array(step, { maxLength: 4 }) }),
      }),
    ),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(parts, async (said) => {
      const { status, body: task } = await client.post('/tasks/send', { message: { parts: said } });
      expect(status).toBe(200);
      expect(['completed', 'failed']).toContain(task.status.state);
      expect((await client.get(`/tasks/${task.id}`)).body).toEqual(task);
      expect(task.history[0].parts).toEqual(JSON.parse(JSON.stringify(said)));
    }),
    { numRuns: runs(150) },
  );
});
