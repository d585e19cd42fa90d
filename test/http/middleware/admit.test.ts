import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditEvent } from '../../../src/actors/ports/audit-event.ts';
import { type AdmitPorts, admit } from '../../../src/http/middleware/admit.ts';
import { countSequence } from '../../../src/http/middleware/count-sequence.ts';
import { handleErrors } from '../../../src/http/middleware/handle-errors.ts';
import { readJson } from '../../../src/http/middleware/read-json.ts';
import { traceRequest } from '../../../src/http/middleware/trace-request.ts';
import type { RequestState } from '../../../src/http/request-state.ts';
import { answerParseError } from '../../../src/http/routes/json-rpc-route.ts';
import { calledInvocation, sentInvocation } from '../../../src/http/wire/admission.ts';
import type { AdmissionVerdict } from '../../../src/machines/admission/admission-answer.ts';
import type { Caller } from '../../../src/machines/domain/task.ts';
import { AgentClient } from '../../helpers/agent-client.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { someTraffic } from '../../helpers/some-traffic.ts';

const admitted: AdmissionVerdict = {
  decision: 'admit',
  reason: '',
  scope: '',
  window: '',
  resetAt: '',
  cached: false,
  fallback: false,
};
const denied: AdmissionVerdict = {
  decision: 'deny',
  reason: 'cost_limit_exceeded',
  scope: 'workspace',
  window: 'daily',
  resetAt: '2026-11-21T12:00:30.2Z',
  cached: false,
  fallback: false,
};
const denial = {
  error: 'admission_denied',
  code: 'admission_denied',
  reason: 'cost_limit_exceeded',
  scope: 'workspace',
  window: 'daily',
  reset_at: '2026-11-21T12:00:30.2Z',
};

/** A door with the middleware in place and handlers that answer `through`. */
interface Door {
  client: AgentClient;
  events: AuditEvent[];
  /** How often admission was asked. */
  checks: () => number;
}

async function startDoor(
  verdict: AdmissionVerdict | null,
  options: Partial<AdmitPorts> & { caller?: Caller } = {},
): Promise<Door> {
  let checks = 0;
  const events: AuditEvent[] = [];
  const ports: AdmitPorts = {
    admission: verdict && {
      check: async () => {
        checks += 1;
        return verdict;
      },
    },
    record: async (event) => void events.push(event),
    entity: { entity_id: 'till', entity_type: 'agent' },
    clock: new ManualClock(Date.parse('2026-11-21T12:00:00Z')),
    ...options,
  };
  const client = new AgentClient(await serve(ports, options.caller ?? null), null);
  return { client, events, checks: () => checks };
}

async function serve(ports: AdmitPorts, caller: Caller | null): Promise<string> {
  const app = new Koa<RequestState>();
  const silent = () => undefined;
  app.use(handleErrors({ log: { info: silent, warn: silent, error: silent } }));
  app.use(countSequence());
  app.use(traceRequest());
  app.use((ctx, next) => {
    ctx.state.correlationId = 'correlation-1';
    ctx.state.caller = caller;
    ctx.state.traffic = someTraffic();
    return next();
  });
  const router = new Router<RequestState>();
  const through = (ctx: Koa.Context) => void (ctx.body = 'through');
  router.post('/tasks/send', readJson(), admit(ports, sentInvocation), through);
  router.post('/', answerParseError(), readJson(), admit(ports, calledInvocation), through);
  app.use(router.routes());
  const server = await new Promise<Server>((resolve) => {
    const listening: Server = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('admission', () => {
  it('passes an admitted request', async () => {
    const { client, events, checks } = await startDoor(admitted);
    expect(await client.post('/tasks/send', { message: {} })).toMatchObject({
      status: 200,
      body: 'through',
    });
    expect({ events, checks: checks() }).toEqual({ events: [], checks: 1 });
  });

  it('passes every request while it is off', async () => {
    const { client } = await startDoor(null);
    expect((await client.post('/tasks/send', {})).body).toBe('through');
    expect((await client.rpc('message/send', {})).body).toBe('through');
  });

  it.each([
    ['a send', '/tasks/send', { message: {} }],
    ['a call', '/', { jsonrpc: '2.0', id: 1, method: 'tasks/send', params: {} }],
  ])("refuses %s with 402 and the platform's reason", async (_, path, body) => {
    const { client } = await startDoor(denied);
    const answer = await client.post(path, body);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 402, body: denial });
    expect(answer.headers.get('retry-after')).toBe('31');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each([
    ['2026-11-21T11:00:00Z', '0'],
    ['9999-12-31T23:59:59Z', '2147483647'],
    ['', null],
    ['soon', null],
  ])('for a reset at %j requests a retry after %j', async (resetAt, seconds) => {
    const { client } = await startDoor({ ...denied, resetAt });
    const { status, headers, body } = await client.post('/tasks/send', {});
    expect({ status, retry: headers.get('retry-after'), body }).toEqual({
      status: 402,
      retry: seconds,
      body: { ...denial, reset_at: resetAt },
    });
  });

  it('has all keys for a bare refusal of the platform', async () => {
    const { client } = await startDoor({ ...admitted, decision: 'deny' });
    expect((await client.post('/tasks/send', {})).body).toEqual({
      error: 'admission_denied',
      code: 'admission_denied',
      reason: '',
      scope: '',
      window: '',
      reset_at: '',
    });
  });

  it('writes every denial to the audit log, with its cache state', async () => {
    const entity = { entity_id: 'till', entity_type: 'agent', org_id: 'acme' };
    const caller = { provider: 'ops', userId: 'ann', workspaceId: 'w1' };
    const { client, events } = await startDoor({ ...denied, cached: true }, { entity, caller });
    await client.post('/tasks/send', { task: { id: 't-1', message: {} } });
    await client.post('/tasks/send', {});
    const event = {
      event: 'task_admission_denied',
      ts: '2026-11-21T12:00:00.000Z',
      seq: 1,
      correlation_id: 'correlation-1',
      org_id: 'acme',
      workspace_id: 'w1',
      entity_id: 'till',
      entity_type: 'agent',
      fields: {
        reason: 'cost_limit_exceeded',
        scope: 'workspace',
        window: 'daily',
        reset_at: '2026-11-21T12:00:30.2Z',
        cached: true,
      },
    };
    expect(events).toStrictEqual([{ ...event, task_id: 't-1' }, event]);
  });

  it('refuses after the denial is stored', async () => {
    const order: string[] = [];
    const onDisk = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const record = async () => {
      asked.resolve();
      await onDisk.promise;
      order.push('on disk');
    };
    const { client } = await startDoor(denied, { record });
    const refused = client.post('/tasks/send', {}).then(({ status }) => order.push(`${status}`));
    await asked.promise;
    onDisk.resolve();
    await refused;
    expect(order).toEqual(['on disk', '402']);
  });

  it('answers 503 when the denial cannot be stored', async () => {
    const record = () => Promise.reject(new Error('the disk is full'));
    const { client } = await startDoor(denied, { record });
    const answer = await client.post('/tasks/send', {});
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 503,
      body: {
        error: 'the service cannot record that the request is refused; try again later',
        code: 'unrecorded',
      },
    });
  });

  it('asks nothing for an unreadable body', async () => {
    const { client, checks } = await startDoor(denied);
    expect((await client.post('/tasks/send', '{')).status).toBe(400);
    expect((await client.post('/', '{')).body.error.code).toBe(-32700);
    expect(checks()).toBe(0);
  });
});

describe('the start of an invocation', () => {
  it.each([
    'tasks/send',
    'tasks/sendSubscribe',
    'message/send',
    'message/stream',
    'SendMessage',
    'SendStreamingMessage',
  ])('is the method %s', async (method) => {
    const { client, checks } = await startDoor(denied);
    expect((await client.rpc(method, {})).status).toBe(402);
    expect(checks()).toBe(1);
  });

  it.each([
    'tasks/get',
    'tasks/cancel',
    'tasks/resubscribe',
    'GetTask',
    'CancelTask',
    'TASKS/SEND',
    'nothing',
    '__proto__',
  ])('is not the method %s', async (method) => {
    const { client, checks } = await startDoor(denied);
    expect((await client.rpc(method, { id: 't-1' })).body).toBe('through');
    expect(checks()).toBe(0);
  });

  it.each([[[]], [[{ method: 'tasks/send' }]], ['"tasks/send"'], ['null'], [{ method: 1 }], [{}]])(
    'is none for the call %j',
    async (body) => {
      const { client, checks } = await startDoor(denied);
      expect((await client.post('/', body)).body).toBe('through');
      expect(checks()).toBe(0);
    },
  );

  it.each([
    [{ id: 't-1' }, 't-1'],
    [{ task: { id: 't-1' }, id: 't-2' }, 't-1'],
    [{ task: 'odd', id: 't-2' }, 't-2'],
    [{ task: {}, id: 't-2' }, null],
    [{ id: 'not a task id' }, null],
    [{ id: 7 }, null],
    [[], null],
    [undefined, null],
  ])('names its task in the send %j', (body, taskId) => {
    expect(sentInvocation(body)).toEqual({ taskId });
    expect(calledInvocation({ id: 1, method: 'tasks/send', params: body })).toEqual({ taskId });
  });

  it.each([
    [{ message: { taskId: 't-1' } }, 't-1'],
    [{ message: { taskId: '../t' } }, null],
    [{ message: {}, id: 't-1' }, null],
    [null, null],
  ])('names its task in the message %j', (params, taskId) => {
    expect(calledInvocation({ id: 1, method: 'message/send', params })).toEqual({ taskId });
    expect(calledInvocation({ id: 1, method: 'SendStreamingMessage', params })).toEqual({ taskId });
    expect(calledInvocation({ method: 'message/send', params })).toBeNull();
  });
});
