import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { deferring, launchAgent, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const token = 'canary-4f1d0c77-static-token';

const unauthorized = (message: string) => ({
  status: 401,
  body: { error: 'unauthorized', code: 'unauthorized', message },
});
const missing = unauthorized('send a bearer token in the Authorization header');
/** The same as an error of JSON-RPC (docs/contract/a2a.md). */
const missingCall = {
  status: 401,
  body: {
    jsonrpc: '2.0',
    id: null,
    error: {
      code: -32000,
      message: missing.body.message,
      data: { error: 'unauthorized', message: missing.body.message },
    },
  },
};
const unknown = unauthorized('the bearer token is unknown');

function guarded() {
  const settings = { token, identity: { user_id: 'ops', email: 'ops@example.com' } };
  const auth = { required: true, providers: [{ type: 'static_token', name: 'ops', settings }] };
  return { ...deferring(), auth };
}

describe('with authentication on', () => {
  let agent: TestAgent;
  beforeAll(async () => {
    agent = await launchAgent(guarded());
    return () => agent.close();
  });

  it.each([
    ['POST', '/'],
    ['POST', '/tasks/send'],
    ['POST', '/tasks/sendSubscribe'],
    ['GET', '/tasks'],
    ['GET', '/tasks/t1'],
    ['HEAD', '/tasks/t1'],
    ['GET', '/tasks/t1/events'],
    ['POST', '/tasks/t1/cancel'],
    ['POST', '/tasks/t1/decisions'],
    ['GET', '/deferrals'],
    ['GET', '/deferrals/x'],
    ['GET', '/metrics'],
    ['GET', '/nothing'],
    ['PUT', '/tasks'],
    ['GET', '/healthz/'],
    ['GET', '/HEALTHZ'],
    ['GET', '//healthz'],
    ['GET', '/healthz/../tasks'],
    ['GET', '/healthz%2f..%2ftasks'],
    ['GET', '/.well-known/service-audit-keys/x'],
  ])('%s %s needs a token', async (method, path) => {
    const body = method === 'POST' ? '{' : undefined;
    const answer = await agent.request(method, path, { body });
    if (method === 'HEAD') expect(answer.status).toBe(401);
    else expect(answer).toMatchObject(path === '/' ? missingCall : missing);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('x-correlation-id')).toBeTruthy();
  });

  it.each([
    ...['/healthz', '/readyz', '/healthz?x=1'],
    ...['/.well-known/service-audit-keys', '/.well-known/audit-keys.json'],
  ])('%s is public, with any token', async (path) => {
    expect((await agent.get(path)).status).toBe(200);
    expect((await agent.get(path, { authorization: 'Bearer wrong' })).status).toBe(200);
  });

  it('OPTIONS is public', async () => {
    expect((await agent.request('OPTIONS', '/tasks')).status).toBe(204);
  });

  it.each([
    ['Bearer wrong', unknown],
    [`Bearer ${token}x`, unknown],
    [`Bearer ${token.slice(0, -1)}`, unknown],
    [`Bearer ${token.toUpperCase()}`, unknown],
    [`Bearer ${token} ${token}`, missing],
    [`Bearer ${token}, Bearer ${token}`, missing],
    ['Bearer', missing],
    ['Bearer ', missing],
    [token, missing],
    [`Basic ${btoa(`ops:${token}`)}`, missing],
    ['x'.repeat(8000), missing],
    [`Bearer ${'x'.repeat(8000)}`, unknown],
  ])('Authorization: %.40s is refused', async (authorization, refusal) => {
    const answer = await agent.get('/tasks', { authorization });
    expect(answer).toMatchObject(refusal);
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  });

  it.each(['bearer', 'BEARER', 'Bearer'])('the scheme may be written %s', async (scheme) => {
    expect((await agent.get('/tasks', { authorization: `${scheme} ${token}` })).status).toBe(200);
  });

  it("accepts the daemon's own token, which only its owner can read", async () => {
    const path = join(agent.folder.path, '.service/runtime.token');
    expect(readFileSync(path, 'utf8')).toBe(agent.token);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await agent.as(agent.token).get('/tasks')).status).toBe(200);
  });

  it('refuses a decision before it reads it', async () => {
    const ops = agent.as(token);
    const held = ops.send('t1', [{ tool: 'pay', args: {} }, { say: 'paid' }]);
    await expect.poll(async () => (await ops.get('/deferrals')).body.deferrals.length).toBe(1);
    for (const id of ['t1', 'unknown']) {
      for (const body of ['{', { decision: 'maybe' }, { decision: 'approve' }]) {
        expect(await agent.post(`/tasks/${id}/decisions`, body)).toMatchObject(missing);
      }
    }
    expect(agent.folder.paid).toEqual([]);
    expect((await ops.decide('t1', { decision: 'approve' })).status).toBe(200);
    await held;
  });

  it('keeps tokens out of answers, log lines and files', async () => {
    const ops = agent.as(token);
    const answers = [
      await ops.send('t1', [{ tool: 'break' }]),
      await ops.get('/tasks'),
      await ops.get('/metrics'),
      await ops.get('/tasks/none'),
      await agent.get('/tasks', { authorization: `Bearer ${token}z` }),
      await ops.post('/tasks/send', '{'),
    ];
    const own = agent.token;
    for (const secret of [token, own]) {
      for (const { body, headers } of answers) {
        expect(JSON.stringify([body, [...headers]])).not.toContain(secret);
      }
      expect(JSON.stringify(agent.log)).not.toContain(secret);
      const state = join(agent.folder.path, '.service');
      const files = readdirSync(state, { recursive: true, withFileTypes: true });
      const holders = files.filter(
        (file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(secret),
      );
      expect(holders.map(({ name }) => name)).toEqual(secret === own ? ['runtime.token'] : []);
    }
  });
});

describe('with authentication off', () => {
  it('accepts every caller, but no unknown token', async () => {
    const agent = await startTestAgent(deferring());
    expect((await agent.get('/tasks')).status).toBe(200);
    expect(await agent.get('/tasks', { authorization: 'Bearer wrong' })).toMatchObject(unknown);
    expect((await agent.as(agent.token).get('/tasks')).status).toBe(200);
  });

  it('by --no-auth accepts no configured token', async () => {
    const { required: _, ...auth } = guarded().auth;
    const agent = await startTestAgent({ ...guarded(), auth }, { noAuth: true });
    expect((await agent.get('/tasks')).status).toBe(200);
    expect(await agent.as(token).get('/tasks')).toMatchObject(unknown);
  });
});
