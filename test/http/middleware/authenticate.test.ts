import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthenticator } from '../../../src/actors/access/auth/authenticator.ts';
import { configuredVerifiers } from '../../../src/actors/access/auth/configured-verifiers.ts';
import { authSchema } from '../../../src/actors/config/schema-auth.ts';
import type { AuditEvent } from '../../../src/actors/ports/audit-event.ts';
import { AuthLog } from '../../../src/http/auth-log.ts';
import { listen } from '../../../src/http/listen.ts';
import { authenticate } from '../../../src/http/middleware/authenticate.ts';
import { correlate } from '../../../src/http/middleware/correlate.ts';
import { countSequence } from '../../../src/http/middleware/count-sequence.ts';
import { handleErrors } from '../../../src/http/middleware/handle-errors.ts';
import { limitRate } from '../../../src/http/middleware/limit-rate.ts';
import { tagEvents } from '../../../src/http/middleware/tag-events.ts';
import { traceRequest } from '../../../src/http/middleware/trace-request.ts';
import type { RequestState } from '../../../src/http/request-state.ts';
import { AgentClient } from '../../helpers/agent-client.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const identity = { user_id: 'ops', email: 'ops@a.io', claims: { org_id: 'o', workspace_id: 'w' } };

const limits = {
  readRps: 100,
  readBurst: 100,
  writeRps: 100,
  writeBurst: 100,
  cancelExempt: false,
  trustedProxies: ['loopback'],
};

interface Gate {
  client: AgentClient;
  events: AuditEvent[];
  clock: ManualClock;
  authLog: AuthLog;
}

interface GateOptions {
  entity?: object;
  isOptional?: boolean;
  record?: (event: AuditEvent) => Promise<void>;
}

/** Serves who calls, to those who may, until the test has finished. */
async function serveGate({ entity, isOptional = false, record }: GateOptions = {}): Promise<Gate> {
  const events: AuditEvent[] = [];
  const silent = { info() {}, warn() {}, error() {} };
  const ids = { next: () => 'made' };
  const clock = new ManualClock(Date.parse('2026-11-21T12:00:00Z'));
  const { providers } = authSchema.parse({
    providers: [
      { type: 'static_token', name: 'ops', settings: { token: 'secret', identity } },
      { type: 'static_token', name: 'bare', settings: { token: 'bare' } },
    ],
  });
  const tokens = await configuredVerifiers(providers, { env: {}, log: silent });
  const authLog = new AuthLog({
    clock,
    record: record ?? (async (event) => void events.push(event)),
  });
  const app = new Koa<RequestState>();
  app.use(correlate({ ids }));
  app.use(handleErrors({ log: silent }));
  app.use(limitRate({ limits, clock }));
  app.use(countSequence());
  app.use(tagEvents({ log: silent }));
  app.use(traceRequest());
  app.use(
    authenticate({
      origins: [],
      publicUrl: '',
      authenticator: createAuthenticator({
        runtimeToken: 'own',
        chatToken: 'talk',
        tokens,
        isOptional,
      }),
      clock,
      entity: { entity_id: 'till', entity_type: 'agent', ...entity },
      authLog,
    }),
  );
  app.use((ctx) => {
    ctx.body = { caller: ctx.state.caller, next: ctx.state.nextSequence() };
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0, isFixed: true, ids });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const { port } = server.address() as AddressInfo;
  return { client: new AgentClient(`http://127.0.0.1:${port}`, null), events, clock, authLog };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const envelope = {
  ts: '2026-11-21T12:00:00.000Z',
  seq: 1,
  correlation_id: 'made',
  entity_id: 'till',
  entity_type: 'agent',
};
const request = { method: 'GET', path: '/tasks', remote_addr: '127.0.0.1' };

describe('the represented user of a caller', () => {
  const header = (email: string) => ({ 'x-service-on-behalf-of': email });

  it('is accepted with the token of conversations', async () => {
    const { client } = await serveGate();
    const answer = await client.get('/tasks', {
      ...bearer('talk'),
      ...header(' Ann@Example.com '),
    });
    expect(answer.body).toEqual({
      caller: { provider: 'chat', userId: 'chat', email: 'ann@example.com' },
      next: 2,
    });
  });

  it.each([
    ['slack:T01/U02 ann@example.com', { userId: 'slack:T01/U02', email: 'ann@example.com' }],
    ['ann@example.com slack:T01/U02', { userId: 'slack:T01/U02', email: 'ann@example.com' }],
    ['telegram:7', { userId: 'telegram:7' }],
    ['', { userId: 'chat' }],
    [' ', { userId: 'chat' }],
    ['x'.repeat(257), { userId: 'chat' }],
  ])('of %j is %j', async (said, person) => {
    const { client } = await serveGate();
    const answer = await client.get('/tasks', { ...bearer('talk'), ...header(said) });
    expect(answer.body).toEqual({ caller: { provider: 'chat', ...person }, next: 2 });
  });

  it('is ignored from all other callers', async () => {
    const { client } = await serveGate({ isOptional: true });
    const answer = await client.get('/tasks', {
      ...bearer('secret'),
      ...header('ann@example.com'),
    });
    expect(answer.body).toMatchObject({ caller: { provider: 'ops', email: 'ops@a.io' } });
    const said = { ...bearer('own'), ...header('slack:T01/U02 ann@example.com') };
    expect((await client.get('/tasks', said)).body).toEqual({
      caller: { provider: 'runtime', userId: 'runtime' },
      next: 2,
    });
    expect((await client.get('/tasks', header('ann@example.com'))).body).toEqual({
      caller: null,
      next: 1,
    });
  });
});

describe('an authenticated caller', () => {
  it('is passed on, and recorded in the audit log', async () => {
    const { client, events } = await serveGate();
    const answer = await client.get('/tasks?x=1', {
      ...bearer('secret'),
      'x-correlation-id': 'c-1',
      'x-forwarded-for': '203.0.113.7',
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        caller: {
          provider: 'ops',
          userId: 'ops',
          email: 'ops@a.io',
          orgId: 'o',
          workspaceId: 'w',
        },
        next: 2,
      },
    });
    expect(events).toStrictEqual([
      {
        ...envelope,
        correlation_id: 'c-1',
        event: 'auth_verify',
        org_id: 'o',
        workspace_id: 'w',
        fields: {
          provider: 'ops',
          user_id: 'ops',
          org_id: 'o',
          token_kind: 'bearer',
          ...request,
          remote_addr: '203.0.113.7',
        },
      },
    ]);
  });

  it('is recorded without unknown properties', async () => {
    const { client, events } = await serveGate();
    await client.get('/tasks', bearer('bare'));
    await client.get('/tasks', bearer('own'));
    const told = (provider: string, token_kind: string) => ({
      ...envelope,
      event: 'auth_verify',
      fields: { provider, user_id: provider, token_kind, ...request },
    });
    expect(events).toStrictEqual([told('bare', 'bearer'), told('runtime', 'runtime')]);
  });

  it("is recorded under the daemon's tenancy without its own", async () => {
    const { client, events } = await serveGate({ entity: { org_id: 'home', workspace_id: 'hw' } });
    await client.get('/tasks', bearer('secret'));
    await client.get('/tasks');
    expect(events).toMatchObject([
      { event: 'auth_verify', org_id: 'o', workspace_id: 'w' },
      { event: 'auth_fail', org_id: 'home', workspace_id: 'hw' },
    ]);
  });
});

describe('an unauthenticated caller', () => {
  it.each<[string, Record<string, string>, string, string]>([
    ['shows nothing', {}, 'missing_token', 'none'],
    ['use another scheme', { authorization: 'Basic canary' }, 'missing_token', 'none'],
    ['send another token', bearer('canary'), 'rejected', 'bearer'],
    ['send a similar token', bearer('canary.canary.canary'), 'rejected', 'jwt'],
    ['send a signed request', bearer('service-cloud-v1.canary'), 'rejected', 'sigv4'],
    [
      'send an unreadable credential',
      { 'x-cloud-iap-jwt-assertion': 'canary' },
      'missing_token',
      'none',
    ],
  ])('is refused with 401 and recorded when they %s', async (_, headers, reason, kind) => {
    const { client, events } = await serveGate();
    const answer = await client.get('/tasks', headers);
    expect(answer).toMatchObject({
      status: 401,
      body: { error: 'unauthorized', code: 'unauthorized' },
    });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(events).toStrictEqual([
      { ...envelope, event: 'auth_fail', fields: { reason, token_kind: kind, ...request } },
    ]);
    expect(JSON.stringify([answer.body, events])).not.toContain('canary');
  });

  it('has only a part of its path in the log', async () => {
    const { client, events } = await serveGate();
    await client.get(`/${'x'.repeat(5_000)}`);
    expect(events[0]?.fields?.['path']).toBe(`/${'x'.repeat(255)}`);
  });

  it('is passed on anonymously and unrecorded while authentication is off', async () => {
    const { client, events } = await serveGate({ isOptional: true });
    expect(await client.get('/tasks')).toMatchObject({
      status: 200,
      body: { caller: null, next: 1 },
    });
    expect(events).toEqual([]);
  });
});

describe('the audit log', () => {
  it('records no public read', async () => {
    const { client, events } = await serveGate();
    const paths = ['/healthz', '/readyz', '/.well-known/audit-keys.json'];
    for (const path of paths) await client.get(path, bearer('secret'));
    await client.request('OPTIONS', '/tasks');
    expect(events).toEqual([]);
  });

  it('delays no caller, also when it cannot be written', async () => {
    const hanging = await serveGate({ record: () => new Promise(() => undefined) });
    const failing = await serveGate({ record: () => Promise.reject(new Error('disk full')) });
    for (const { client } of [hanging, failing]) {
      expect((await client.get('/tasks', bearer('secret'))).status).toBe(200);
      expect((await client.get('/tasks')).status).toBe(401);
    }
  });

  const told = (events: AuditEvent[]) =>
    events.map(({ event, workflow_id, fields }) => ({
      event,
      ...(workflow_id === undefined ? {} : { workflow_id }),
      ...(fields?.['count'] === undefined ? {} : { count: fields['count'] }),
    }));
  const at = (address: string) => ({ 'x-forwarded-for': address });

  it('records the first refusal at once, and the number of those within a minute', async () => {
    const { client, events, clock } = await serveGate();
    for (let tries = 0; tries < 9; tries += 1) await client.post(`/tasks/${tries}`, {});
    expect(told(events)).toEqual([{ event: 'auth_fail' }]);
    clock.advance(59_999);
    await client.get('/last');
    expect(events).toHaveLength(1);
    clock.advance(1);
    expect(events.slice(1)).toStrictEqual([
      {
        ...envelope,
        ts: '2026-11-21T12:01:00.000Z',
        event: 'auth_fail',
        fields: {
          reason: 'missing_token',
          token_kind: 'none',
          ...request,
          path: '/last',
          count: 9,
        },
      },
    ]);
    await client.get('/tasks');
    expect(told(events.slice(2))).toEqual([{ event: 'auth_fail' }]);
    clock.advance(600_000);
    expect(events).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  it('records refusals separately by address, reason and workflow', async () => {
    const { client, events, clock } = await serveGate();
    for (let round = 0; round < 3; round += 1) {
      await client.get('/tasks', at('203.0.113.7'));
      await client.get('/tasks', at('2001:db8::1'));
      await client.get('/tasks', at(`2001:db8::${round}:2`));
      await client.get('/tasks', { ...at('203.0.113.7'), ...bearer('wrong') });
      await client.get('/tasks', { ...at('203.0.113.7'), ...bearer('a.b.c') });
      await client.get('/tasks', { ...at('203.0.113.7'), 'x-workflow-id': 'wf' });
      await client.get('/tasks', { ...at('203.0.113.7'), 'x-service-org-id': `org-${round}` });
    }
    const once = [
      { event: 'auth_fail' },
      { event: 'auth_fail' },
      { event: 'auth_fail' },
      { event: 'auth_fail', workflow_id: 'wf' },
    ];
    expect(told(events)).toEqual(once);
    clock.advance(60_000);
    expect(told(events.slice(4))).toEqual(
      [5, 5, 5, 2].map((count, index) => ({ ...once[index], count })),
    );
  });

  it('records every change, and once a minute each reader', async () => {
    const { client, events, clock } = await serveGate();
    for (let round = 0; round < 3; round += 1) {
      await client.get('/tasks', bearer('secret'));
      await client.request('HEAD', '/tasks', { headers: bearer('secret') });
      await client.get('/deferrals', { ...bearer('secret'), ...at('203.0.113.7') });
      await client.get('/tasks', bearer('own'));
    }
    expect(events.map(({ fields }) => fields?.['user_id'])).toEqual(['ops', 'runtime']);
    await client.post('/tasks/send', {}, bearer('secret'));
    await client.post('/tasks/send', {}, bearer('secret'));
    await client.get('/tasks', { ...bearer('secret'), 'x-workflow-stage-id': 'one' });
    await client.get('/tasks', { ...bearer('secret'), 'x-workflow-stage-id': 'one' });
    expect(events.map(({ seq }) => seq)).toEqual([1, 1, 1, 1, 1, 1]);
    clock.advance(59_999);
    await client.get('/tasks', bearer('secret'));
    expect(events).toHaveLength(6);
    clock.advance(1);
    await client.get('/tasks', bearer('secret'));
    expect(told(events)).toEqual(Array(7).fill({ event: 'auth_verify' }));
  });

  it('contains every refusal once the daemon has stopped', async () => {
    const { client, events, clock, authLog } = await serveGate();
    for (let tries = 0; tries < 5; tries += 1) await client.get('/tasks');
    await authLog.flush();
    expect(told(events)).toEqual([{ event: 'auth_fail' }, { event: 'auth_fail', count: 4 }]);
    expect(clock.pending).toBe(0);
  });
});
