import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { a2aOperation } from '../../src/http/openapi/a2a-operations.ts';
import { type Answer, playing, saying } from '../helpers/agent-client.ts';
import { SurfaceDescription } from '../helpers/surface-description.ts';
import { deferring, launchAgent, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';
import { type Asked, headersOf, type Operation, wireSurfaces } from './a2a/wire-surfaces.ts';
import { SurfaceRoutes } from './surface-routes.ts';

let agent: TestAgent;
let description: SurfaceDescription;

const settings = deferring({ approvers: ['ann@example.com'] });

beforeAll(async () => {
  agent = await launchAgent(settings);
  description = new SurfaceDescription((await agent.get('/openapi.json')).body);
  return () => agent.close();
});

/** Asks, and expects the answer to be as described. */
async function told(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const given = body === undefined ? {} : { body };
  const answer = await agent.request(method, path, { ...given, headers });
  description.expectTold(method, path, answer);
  return answer;
}

describe('GET /openapi.json', () => {
  it('is valid OpenAPI 3.1 without a lint finding', async () => {
    const config = await createConfig({
      extends: ['spec', 'recommended'],
      // Whose agent it is and on which terms is not for its runtime to say.
      rules: { 'info-license': 'off' },
    });
    const source = JSON.stringify(description.document);
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    const found = problems.map(({ ruleId, message, location }) => {
      return `${ruleId}: ${message} ${location[0]?.pointer}`;
    });
    expect({ version: description.document.openapi, found }).toEqual({
      version: '3.1.1',
      found: [],
    });
  });

  it('has every route of the agent, and no other', () => {
    const known = description.ways().filter((way) => way !== 'POST /');
    const routed = new SurfaceRoutes()
      .all()
      .filter((way) => way.includes(' /'))
      .map((way) => way.replace(/\\:/g, ':').replace(/(?<=\/):(\w+)/g, '{$1}'));
    expect(known.toSorted()).toEqual(routed.toSorted());
  });

  it('describes no missing route', () => {
    expect(a2aOperation('GET', '/a2a/nothing')).toBeUndefined();
  });

  it('names the agent and its address, and is not cached', async () => {
    const { status, headers } = await told('GET', '/openapi.json');
    expect({ status, cache: headers.get('cache-control') }).toEqual({
      status: 200,
      cache: 'no-store',
    });
    expect(description.document).toMatchObject({
      info: { title: 'till', version: '0.0.0' },
      servers: [{ url: agent.url }],
      security: [],
    });
  });

  it('describes the sign-in, is public, and contains no secret and no path of the machine', async () => {
    const secret = 'CANARY-of-the-token';
    const guarded = await startTestAgent(
      {
        auth: {
          required: true,
          providers: [
            { type: 'static_token', name: 'ops', settings: { token_env: 'OPS_TOKEN' } },
            {
              type: 'oidc',
              name: 'staff',
              settings: { issuer: 'https://id.example.com', audience: 'till' },
            },
          ],
        },
        server: { public_url: 'https://till.example.com' },
      },
      { env: { OPS_TOKEN: secret } },
    );
    const { status, body } = await guarded.get('/openapi.json');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        servers: [{ url: 'https://till.example.com' }],
        security: [{ ops: [] }, { staff: [] }],
        components: {
          securitySchemes: {
            ops: { type: 'http', scheme: 'bearer' },
            staff: { type: 'openIdConnect' },
          },
        },
      },
    });
    expect(body.paths['/healthz'].get.security).toEqual([]);
    expect(body.paths['/tasks/send'].post.security).toBeUndefined();
    const text = JSON.stringify(body);
    for (const hidden of [secret, guarded.token, guarded.folder.path, 'src/http']) {
      expect(text).not.toContain(hidden);
    }
    const refused = await guarded.get('/tasks');
    description.expectTold('GET', '/tasks', refused);
    expect(refused.status).toBe(401);
  });
});

describe('an answer matches its description', () => {
  it('for a task from its send to its decision', async () => {
    const task = { id: 'held', message: playing([{ tool: 'pay', args: { n: 1 } }, { say: 'ok' }]) };
    const held = told('POST', '/tasks/send', { task });
    const { metadata } = await agent.reached('held', 'deferred');
    await told('GET', '/tasks/held?decisions=true');
    await told('GET', '/deferrals');
    await told('GET', `/deferrals/${metadata.deferral.id}`);
    const path = '/tasks/held/decisions';
    const approve = { decision: 'approve', approver_email: 'ann@example.com' };
    const wrong = { ...approve, args_sha256: '0'.repeat(64) };
    const statuses = [
      await told('POST', path, { decision: 'perhaps' }),
      await told('POST', path, { ...approve, approver_email: 'bob@example.com' }),
      await told('POST', path, wrong),
      await told('POST', '/tasks/none/decisions', approve),
      await told('POST', path, approve),
      await told('POST', path, approve),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 403, 409, 404, 200, 409]);
    const again = { task_id: 'held', decision: 'reject', approver_email: 'ann@example.com' };
    const { body } = await told('POST', '/deferrals/decisions', { decisions: [again, {}] });
    expect(body.decisions).toMatchObject([{ status: 409 }, { task_id: null, status: 400 }]);
    await told('POST', '/deferrals/decisions', {});
    expect((await held).body.status.state).toBe('completed');
    await told('GET', '/tasks?include=artifacts');
    await told('GET', '/tasks/held?decisions=true');
    await told('POST', '/tasks/held/cancel', { reason: 'late' });
  });

  it.each([
    ['GET', '/tasks/none', 404, undefined],
    ['GET', '/tasks?limit=none', 400, undefined],
    ['GET', '/deferrals/none', 404, undefined],
    ['GET', '/tasks/none/events', 404, undefined],
    ['POST', '/tasks/none/cancel', 404, {}],
    ['POST', '/tasks/send', 400, {}],
    ['POST', '/tasks/send', 400, '{'],
    ['POST', '/tasks/send', 413, 'x'.repeat(2 * 1024 * 1024 + 1)],
    ['POST', '/', 200, '{'],
    ['POST', '/', 200, { jsonrpc: '2.0', id: 1, method: 'nothing' }],
    ['POST', '/', 200, { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'none' } }],
    ['GET', '/healthz', 200, undefined],
    ['GET', '/readyz', 200, undefined],
    ['GET', '/metrics', 200, undefined],
    ['GET', '/.well-known/service-audit-keys', 200, undefined],
    ['GET', '/.well-known/audit-keys.json', 200, undefined],
    ['GET', '/.well-known/agent-card.json', 200, undefined],
    ['GET', '/.well-known/agent.json', 200, undefined],
    ['GET', '/', 200, undefined],
  ])('for %s %s with %i', async (method, path, status, body) => {
    expect((await told(method, path, body)).status).toBe(status);
  });

  it.each(['/tasks/send', '/', '/v1/message:send', '/a2a/message:send'])(
    'for a body of another type to %s',
    async (path) => {
      const answer = await told('POST', path, 'x', { 'content-type': 'text/plain' });
      expect(answer.status).toBe(415);
    },
  );

  it('for a stream', async () => {
    const task = { id: 'streamed', message: saying('hi') };
    await told('POST', '/tasks/sendSubscribe', { task });
    await told('GET', '/tasks/streamed/events');
  });

  it.each(wireSurfaces)('for $name', async (surface) => {
    const asked = async (operation: Operation, more: Asked): Promise<Answer> => {
      const { method, path, body } = surface.request(operation, more);
      return told(method, path, body, headersOf(surface));
    };
    const sent = await asked('send', { message: surface.saying('hi') });
    const { id } = surface.taskOf(sent);
    await asked('stream', { message: surface.saying('hi') });
    await asked('get', { id });
    await asked('get', { id: 'none' });
    await asked('cancel', { id });
    await asked('cancel', { id: 'none' });
    await asked('send', { message: { ...surface.saying('more'), taskId: id } });
    await asked('send', { message: {} });
    await asked('setPush', { id, config: { id: 'c1', url: 'https://hooks.example.com/' } });
    await asked('setPush', { id, config: { id: 'c1', url: 'http://127.0.0.1:1/' } });
    await asked('getPush', { id, configId: 'none' });
    await asked('listPush', { id });
    await asked('deletePush', { id, configId: 'c1' });
    await asked('card', {});
    await asked('subscribe', { id: 'none' });
  });

  it('for a list of tasks over HTTP+JSON', async () => {
    expect((await told('GET', '/a2a/tasks?pageSize=1')).status).toBe(200);
  });
});
