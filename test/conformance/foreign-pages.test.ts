import { describe, expect, it } from 'vitest';
import { rawRequest } from '../helpers/raw-request.ts';
import { deferring, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const decision = '{"decision":"approve","approver_email":"ann@example.com"}';

/** Sends a request for a page as a browser does: `Host` is the host of its address bar. */
async function ask(
  agent: TestAgent,
  route: string,
  { headers, body = '' }: { headers: string[]; body?: string },
): Promise<[number, unknown]> {
  const said = body === '' ? [] : ['Content-Type: application/json'];
  const lines = [`${route} HTTP/1.1`, ...headers, ...said, `Content-Length: ${body.length}`];
  const answer = await rawRequest(
    agent.url,
    `${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`,
  );
  return [answer.status, JSON.parse(answer.body)];
}

/** Starts an agent on which `t1` waits for a release, and returns it with its port. */
async function waiting(server: object = {}): Promise<{ agent: TestAgent; port: string }> {
  const agent = await startTestAgent({ ...deferring(), server });
  void agent.send('t1', pay).catch(() => undefined);
  await agent.reached('t1', 'deferred');
  return { agent, port: new URL(agent.url).port };
}

const elsewhere = {
  error:
    'without a token the agent answers to no such host name; call it by its address, sign in, or set server.public_url',
  code: 'forbidden_host',
};
const unlisted = {
  error: 'pages of this origin may not call; list it in server.cors_origins',
  code: 'forbidden_origin',
};

describe('an agent without sign-in', () => {
  it('refuses a page whose host name resolves to this machine', async () => {
    const { agent, port } = await waiting();
    for (const name of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'EVIL.example.',
      '0x7f.1',
    ]) {
      const headers = [`Host: ${name}:${port}`, `Origin: http://${name}:${port}`];
      expect(await ask(agent, 'POST /tasks/t1/decisions', { headers, body: decision })).toEqual([
        403,
        elsewhere,
      ]);
      for (const path of ['/tasks', '/tasks/t1', '/deferrals', '/metrics']) {
        expect(await ask(agent, `GET ${path}`, { headers: headers.slice(0, 1) })).toEqual([
          403,
          elsewhere,
        ]);
      }
    }
    await agent.reached('t1', 'deferred');
  });

  it('refuses a page that sends without reading the answer', async () => {
    const { agent, port } = await waiting();
    for (const origin of ['https://evil.example', 'null', 'http://localhost:1', 'http://[']) {
      const headers = [`Host: 127.0.0.1:${port}`, `Origin: ${origin}`];
      expect(await ask(agent, 'POST /tasks/t1/cancel', { headers })).toEqual([403, unlisted]);
    }
    await agent.reached('t1', 'deferred');
  });

  it('refuses a request that the browser marks as cross-site', async () => {
    const { agent, port } = await waiting({ cors_origins: ['https://desk.example.com'] });
    const asked = (site: string, ...more: string[]) =>
      ask(agent, 'GET /tasks/t1', {
        headers: [`Host: 127.0.0.1:${port}`, `Sec-Fetch-Site: ${site}`, ...more],
      });
    expect(await asked('cross-site')).toEqual([403, unlisted]);
    expect(await asked('same-site')).toEqual([403, unlisted]);
    expect(await asked('none')).toMatchObject([200, { id: 't1' }]);
    expect(await asked('cross-site', 'Origin: https://desk.example.com')).toMatchObject([200, {}]);
    const { headers } = await agent.get('/healthz');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  it.each(['127.0.0.1', 'localhost', 'LOCALHOST', '127.0.0.2', '[::1]', 'agent', '10.0.0.2'])(
    'accepts programs and its own pages as %s',
    async (name) => {
      const { agent, port } = await waiting();
      const headers = [`Host: ${name}:${port}`];
      expect(await ask(agent, 'GET /tasks/t1', { headers })).toMatchObject([200, { id: 't1' }]);
      headers.push(`Origin: http://${name.toLowerCase()}:${port}`);
      expect(await ask(agent, 'POST /tasks/t1/cancel', { headers })).toMatchObject([200, {}]);
    },
  );

  it('accepts its public URL, and listed pages', async () => {
    const desk = 'https://desk.example.com';
    const { agent } = await waiting({
      public_url: 'https://agents.example.com/refunds',
      cors_origins: [desk],
    });
    const headers = ['Host: agents.example.com', `Origin: ${desk}`];
    expect(await ask(agent, 'POST /tasks/t1/cancel', { headers })).toMatchObject([200, {}]);
  });

  it('identifies a caller by its token, under any host name', async () => {
    const { agent } = await waiting();
    const headers = ['Host: evil.example', `Authorization: Bearer ${agent.token}`];
    expect(await ask(agent, 'GET /tasks/t1', { headers })).toMatchObject([200, { id: 't1' }]);
  });

  it('shows its health to every caller', async () => {
    const { agent } = await waiting();
    const headers = ['Host: evil.example'];
    expect(await ask(agent, 'GET /healthz', { headers })).toEqual([200, { status: 'ok' }]);
  });
});
