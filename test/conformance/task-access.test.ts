import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AgentClient, type Answer, saying } from '../helpers/agent-client.ts';
import { EventReader } from '../helpers/event-reader.ts';
import { deferring, launchAgent, reached, type TestAgent } from '../helpers/test-agent.ts';
import { headersOf, type Operation, type WireSurface, wireSurfaces } from './a2a/wire-surfaces.ts';
import { type Routed, SurfaceRoutes } from './surface-routes.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Who calls. Everything is asked for by `asker`; what waits lists `approver` and `outsider`. */
const people = {
  asker: { email: 'asker@acme.example', org: 'acme' },
  colleague: { email: 'colleague@acme.example', org: 'acme' },
  approver: { email: 'Ann@Acme.example', org: 'acme' },
  rival: { email: 'rival@globex.example', org: 'globex' },
  outsider: { email: 'out@globex.example', org: 'globex' },
  drifter: { email: 'drifter@nowhere.example', org: null },
} as const;

type Person = keyof typeof people | 'operator';

/** Whose task waits or has ended. */
type Kind = 'held' | 'ended';

const everybody: Person[] = [...(Object.keys(people) as (keyof typeof people)[]), 'operator'];

/** The callers who may read the tasks of `asker`, by `server.task_access`. */
const seers: Record<'org' | 'requester' | 'any', Record<Kind, Person[]>> = {
  org: {
    held: ['asker', 'colleague', 'approver', 'drifter', 'operator'],
    ended: ['asker', 'colleague', 'approver', 'drifter', 'operator'],
  },
  requester: { held: ['asker', 'approver', 'operator'], ended: ['asker', 'operator'] },
  any: { held: everybody, ended: everybody },
};

/** A request about a task, and the answer to a caller who may read it. */
interface Row {
  name: string;
  kind: Kind;
  request: (task: Given) => Routed;
  /** The answer, or the first event of a stream. */
  seen: (task: Given) => unknown;
  /** True when the task is not the same afterwards. */
  isChange?: boolean;
  isStream?: boolean;
  /** The answer to a caller who may not read it, when it differs from the one for an unknown id. */
  refusal?: { status: number; body: unknown };
}

interface Given {
  id: string;
  deferralId: string;
}

const hook = 'http://127.0.0.1:1/';
const notFound = { status: 404, body: { error: 'task not found', code: 'task_not_found' } };
const rpcNotFound = {
  status: 200,
  body: {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32001, message: 'task not found', data: { error: 'task not found' } },
  },
};

const call = (method: string, params: object, headers: Record<string, string> = {}): Routed => ({
  method: 'POST',
  path: '/',
  body: { jsonrpc: '2.0', id: 1, method, params },
  headers,
});
const get = (path: string): Routed => ({ method: 'GET', path });
const post = (path: string, body: object = {}): Routed => ({ method: 'POST', path, body });

const legacyRows: Row[] = [
  {
    name: 'GET /tasks/{id}',
    kind: 'held',
    request: ({ id }) => get(`/tasks/${id}?decisions=true&historyLength=1`),
    seen: ({ id }) => ({ status: 200, body: { id, status: { state: 'deferred' } } }),
  },
  {
    name: 'GET /tasks/{id}?history=states',
    kind: 'held',
    request: ({ id }) => get(`/tasks/${id}?history=states`),
    seen: ({ id }) => ({
      status: 200,
      body: { id, metadata: { statechart: { value: 'deferred.asked' } } },
    }),
  },
  {
    name: 'GET /tasks/{id}/inspection',
    kind: 'held',
    request: ({ id }) => get(`/tasks/${id}/inspection`),
    seen: ({ id }) => ({ status: 200, body: { events: expect.toSatisfy(isOf(id)) } }),
  },
  {
    name: 'GET /tasks/{id}/calls/{call_id}/receipt',
    kind: 'ended',
    request: ({ id }) => get(`/tasks/${id}/calls/c-1/receipt`),
    // The agent does not sign its log.
    seen: () => ({ status: 409, body: { error: expect.stringContaining('audit.sign') } }),
  },
  {
    name: 'GET /tasks/{id} of one that ended',
    kind: 'ended',
    request: ({ id }) => get(`/tasks/${id}`),
    seen: ({ id }) => ({ status: 200, body: { id, status: { state: 'completed' } } }),
  },
  {
    name: 'GET /tasks/{id}/events',
    kind: 'held',
    isStream: true,
    request: ({ id }) => get(`/tasks/${id}/events`),
    seen: ({ id }) => ({ id, status: { state: 'deferred' } }),
  },
  {
    name: 'POST /tasks/{id}/cancel',
    kind: 'held',
    isChange: true,
    request: ({ id }) => post(`/tasks/${id}/cancel`),
    seen: ({ id }) => ({ status: 200, body: { id, status: { state: 'canceled' } } }),
  },
  {
    name: 'POST /tasks/{id}/decisions',
    kind: 'held',
    isChange: true,
    request: ({ id }) =>
      post(`/tasks/${id}/decisions`, { decision: 'reject', approver_email: 'ann@acme.example' }),
    seen: ({ id }) => ({ status: 200, body: { task_id: id, status: 'resolved' } }),
  },
  {
    name: 'POST /deferrals/decisions',
    kind: 'held',
    isChange: true,
    request: ({ id }) =>
      post('/deferrals/decisions', {
        decisions: [{ task_id: id, decision: 'reject', approver_email: 'ann@acme.example' }],
      }),
    seen: ({ id }) => ({ status: 200, body: { decisions: [{ task_id: id, status: 200 }] } }),
  },
  {
    name: 'GET /deferrals/{id}',
    kind: 'held',
    request: ({ deferralId }) => get(`/deferrals/${deferralId}`),
    seen: ({ id }) => ({ status: 200, body: { task_id: id, args: { iban: 'ACME-PRIVATE' } } }),
  },
  {
    name: 'POST /tasks/send with the id of one that ended',
    kind: 'ended',
    isChange: true,
    refusal: notFound,
    request: ({ id }) => post('/tasks/send', { id, message: saying('go on') }),
    seen: ({ id }) => ({ status: 200, body: { id, status: { state: 'completed' } } }),
  },
  {
    name: 'POST /tasks/send with the id of one that waits',
    kind: 'held',
    refusal: notFound,
    request: ({ id }) => post('/tasks/send', { id, message: saying('go on') }),
    seen: ({ id }) => ({
      status: 409,
      body: { error: expect.stringContaining(`task ${id} waits for approval of pay`) },
    }),
  },
  {
    name: 'POST /tasks/sendSubscribe',
    kind: 'ended',
    isChange: true,
    isStream: true,
    refusal: notFound,
    request: ({ id }) => post('/tasks/sendSubscribe', { id, message: saying('go on') }),
    seen: ({ id }) => ({ id, status: { state: 'working' } }),
  },
  {
    name: 'tasks/get',
    kind: 'held',
    request: ({ id }) => call('tasks/get', { id }),
    seen: ({ id }) => ({ body: { result: { id, status: { state: 'deferred' } } } }),
  },
  {
    name: 'tasks/cancel',
    kind: 'held',
    isChange: true,
    request: ({ id }) => call('tasks/cancel', { id }),
    seen: ({ id }) => ({ body: { result: { id, status: { state: 'canceled' } } } }),
  },
  {
    name: 'tasks/send',
    kind: 'ended',
    isChange: true,
    refusal: rpcNotFound,
    request: ({ id }) => call('tasks/send', { id, message: saying('go on') }),
    seen: ({ id }) => ({ body: { result: { id, status: { state: 'completed' } } } }),
  },
  {
    name: 'tasks/sendSubscribe',
    kind: 'ended',
    isChange: true,
    isStream: true,
    refusal: rpcNotFound,
    request: ({ id }) => call('tasks/sendSubscribe', { id, message: saying('go on') }),
    seen: ({ id }) => ({ id, status: { state: 'working' } }),
  },
];

/** What the four surfaces of A2A are asked, for one of them. */
function rowsOf(surface: WireSurface): Row[] {
  const { name, version } = surface;
  const asked = (operation: Operation, more: object = {}) => {
    const headers = headersOf(surface);
    return ({ id }: Given): Routed => ({
      ...surface.request(operation, { id, configId: 'c1', ...more }),
      headers: version === '1.0' ? { 'A2A-Version': '1.0', ...headers } : headers,
    });
  };
  const sent = (operation: 'send' | 'stream') => (task: Given) =>
    asked(operation, { message: { ...surface.saying('go on'), taskId: task.id } })(task);
  const config = { id: 'c1', url: hook };
  const told = expect.objectContaining({});
  const row = (operation: Operation, more: Omit<Row, 'name' | 'request'> & Partial<Row>): Row => ({
    name: `${operation} over ${name}`,
    request: asked(operation),
    ...more,
  });
  const status = (state: string) => ({ status: { state: surface.state(state) } });
  const result = (body: object) => (surface.isRpc ? { body: { result: body } } : { body });
  const surfaceTask = (id: string) => {
    const task = { id, ...status('auth-required') };
    if (surface.isRpc) return { result: version === '1.0' ? { task } : task };
    return { task };
  };
  const taken = (task: Given) => surface.refusal(-32004, expect.stringContaining(task.id));
  return [
    row('get', { kind: 'held', seen: ({ id }) => result({ id, ...status('auth-required') }) }),
    row('cancel', {
      kind: 'held',
      isChange: true,
      seen: ({ id }) => result({ id, ...status('canceled') }),
    }),
    row('subscribe', {
      kind: 'held',
      isStream: true,
      seen: () => told,
    }),
    row('send', {
      name: `send to one that waits over ${name}`,
      kind: 'held',
      isChange: true,
      request: sent('send'),
      seen: ({ id }) => ({ body: surfaceTask(id) }),
    }),
    row('stream', {
      name: `stream to one that waits over ${name}`,
      kind: 'held',
      isChange: true,
      isStream: true,
      request: sent('stream'),
      seen: () => told,
    }),
    row('send', { kind: 'ended', request: sent('send'), seen: taken }),
    row('stream', { kind: 'ended', request: sent('stream'), seen: taken }),
    row('setPush', {
      kind: 'held',
      isChange: true,
      request: asked('setPush', { config }),
      seen: () => ({ status: expect.toBeOneOf([200, 201]), body: told }),
    }),
    row('listPush', { kind: 'held', seen: () => ({ status: 200, body: told }) }),
    row('getPush', {
      kind: 'held',
      seen: ({ id }) => surface.refusal(-32001, `task ${id} has no push notification config c1`),
    }),
    row('deletePush', {
      kind: 'held',
      seen: () => ({ status: 200, body: surface.isRpc ? expect.objectContaining({ id: 1 }) : {} }),
    }),
  ];
}

/** The surfaces of HTTP+JSON take this one in two ways. */
const otherSubscribes: Row[] = ['/v1', '/a2a'].map((base) => ({
  name: `POST ${base}/tasks/{id}:subscribe`,
  kind: 'held',
  isStream: true,
  request: ({ id }) => ({ method: 'POST', path: `${base}/tasks/${id}:subscribe`, body: {} }),
  seen: () => expect.objectContaining({}),
}));

/** Tells whether all inspection events are of one task. */
function isOf(id: string) {
  return (events: { rootId: string }[]) => events.every(({ rootId }) => rootId === id);
}

const rows: Row[] = [...legacyRows, ...wireSurfaces.flatMap(rowsOf), ...otherSubscribes];

/** Lists of tasks, with the ids that an answer shows and what else it must be. */
const lists: { request: Routed; kinds: Kind[]; of: (body: any) => any }[] = [
  {
    request: get('/tasks'),
    kinds: ['held', 'ended'],
    of: ({ tasks }) => tasks.map(({ id }: Given) => id),
  },
  {
    request: get('/tasks?state=deferred'),
    kinds: ['held'],
    of: ({ tasks }) => tasks.map(({ id }: Given) => id),
  },
  {
    request: get('/deferrals'),
    kinds: ['held'],
    of: ({ deferrals }) => deferrals.map(({ task_id: id }: { task_id: string }) => id),
  },
  {
    request: get('/v1/tasks'),
    kinds: ['held', 'ended'],
    of: listedTasks,
  },
  {
    request: get('/a2a/tasks'),
    kinds: ['held', 'ended'],
    of: listedTasks,
  },
  {
    request: get('/a2a/tasks?status=TASK_STATE_AUTH_REQUIRED'),
    kinds: ['held'],
    of: listedTasks,
  },
  {
    request: call('ListTasks', {}, { 'A2A-Version': '1.0' }),
    kinds: ['held', 'ended'],
    of: ({ result }) => listedTasks(result),
  },
];

/** The routes that show a caller only their own tasks under any `task_access`: see sessions.test.ts. */
const ownAlone: Routed[] = [get('/sessions'), get('/sessions/some')];

/** The route that sends every caller all that they may read. */
const followed = get('/events');

/** A count that tells of more tasks than are shown would be a hint as well. */
function listedTasks({ tasks = [], totalSize = 0 }: { tasks?: Given[]; totalSize?: number }) {
  expect(totalSize).toBe(tasks.length);
  return tasks.map(({ id }) => id);
}

/** Ways that lead to no task. */
const taskless = [
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
  'POST /policy/reload',
  'GET /delegations',
  'POST /delegations',
  'DELETE /delegations/:id',
  'GET /grants',
  'DELETE /grants/:id',
  'GET /limits',
  // limits.test.ts has who may see and settle calls of tasks there.
  'GET /limits/settlements',
  'POST /limits/settlements',
  'GET /.well-known/service-audit-keys',
  'GET /.well-known/audit-keys.json',
  'GET /.well-known/agent-card.json',
  'GET /.well-known/agent.json',
  'GET /',
  'GET /openapi.json',
  'GET /v1/card',
  'GET /a2a/extendedAgentCard',
  '0.3 agent/getAuthenticatedExtendedCard',
  '1.0 GetExtendedAgentCard',
];

const routes = new SurfaceRoutes();

it('the table has a row for every route to a task', () => {
  const task = { id: 'some', deferralId: 'some' };
  const known = [
    ...rows.map(({ request }) => request(task)),
    ...lists.map((one) => one.request),
    ...ownAlone,
    followed,
  ];
  const ways = new Set([...known.map((request) => routes.of(request)), ...taskless]);
  expect([...ways].toSorted()).toEqual(routes.all());
});

describe.each(['org', 'requester', 'any'] as const)('with task_access %s', (access) => {
  let agent: TestAgent;
  let count = 0;
  const sends: Promise<unknown>[] = [];

  const callers = (): [Person, AgentClient][] =>
    everybody.map((name) => [name, agent.as(name === 'operator' ? agent.token : tokenOf(name))]);

  async function given(kind: Kind): Promise<Given> {
    const id = `t-${(count += 1)}`;
    const asker = agent.as(tokenOf('asker'));
    if (kind === 'ended') {
      await asker.send(id, [{ say: 'private' }]);
      return { id, deferralId: 'none' };
    }
    sends.push(asker.send(id, [{ tool: 'pay', args: { iban: 'ACME-PRIVATE' } }]));
    const operator = agent.as(agent.token);
    const { metadata } = await reached(operator, id, 'deferred');
    return { id, deferralId: metadata.deferral.id };
  }

  beforeAll(async () => {
    agent = await launchAgent(settingsOf(access), { inspectPort: 0 });
  });

  afterAll(async () => {
    // Who is cut off as the agent stops is heard before.
    const settled = Promise.allSettled(sends);
    await agent.close();
    await settled;
  });

  it.each(lists)(
    '$request.method $request.path lists the visible tasks of its caller',
    async (list) => {
      const tasks = { held: await given('held'), ended: await given('ended') };
      const ids = new Set([tasks.held.id, tasks.ended.id]);
      for (const [name, client] of callers()) {
        const { method, path, body, headers } = list.request;
        const answer = await client.request(method, path, {
          ...(body === undefined ? {} : { body }),
          ...(headers === undefined ? {} : { headers }),
        });
        const shown = new Set((list.of(answer.body) as string[]).filter((id) => ids.has(id)));
        const kinds = list.kinds.filter((kind) => seers[access][kind].includes(name));
        expect([name, [...shown].toSorted()]).toEqual([
          name,
          kinds.map((kind) => tasks[kind].id).toSorted(),
        ]);
      }
    },
  );

  it('GET /events sends each caller their visible tasks only', async () => {
    const streams = await Promise.all(
      callers().map(
        async ([name, client]) => [name, client, await stream(client, followed)] as const,
      ),
    );
    const ended = await given('ended');
    const held = await given('held');
    const asker = agent.as(tokenOf('asker'));
    await asker.decide(held.id, { decision: 'reject', approver_email: people.approver.email });
    for (const [name, client, events] of streams) {
      const own = `own-${(count += 1)}`;
      await client.send(own, [{ say: 'mine' }]);
      const told = await events.until(
        ({ event, data }) => event === 'task' && data.id === own && data.state === 'completed',
      );
      events.leave();
      const of = ({ id }: Given) =>
        new Set(
          told
            .filter(({ data }) => JSON.stringify(data).includes(`"${id}"`))
            .map(({ event }) => event),
        );
      const isSeen = (kind: Kind) => seers[access][kind].includes(name);
      expect([name, of(ended), of(held)]).toEqual([
        name,
        new Set(isSeen('ended') ? ['task'] : []),
        new Set(isSeen('held') ? ['task', 'deferral'] : []),
      ]);
      if (!isSeen('held')) expect(JSON.stringify(told)).not.toContain('PRIVATE');
      if (isSeen('held')) expect(told).toContainEqual(over(held.id));
    }
  });

  it('GET /events continues for each caller with their visible tasks', async () => {
    const began = await Promise.all(
      callers().map(async ([name, client]) => {
        const events = await stream(client, followed);
        const first = await events.next();
        events.leave();
        return [name, client, first?.id ?? ''] as const;
      }),
    );
    const held = await given('held');
    for (const [name, client, id] of began) {
      const own = `own-${(count += 1)}`;
      await client.send(own, [{ say: 'mine' }]);
      const events = await stream(client, { ...followed, headers: { 'Last-Event-ID': id } });
      const told = await events.until(({ data }) => data.id === own);
      events.leave();
      const kinds = told
        .filter(({ data }) => JSON.stringify(data).includes(`"${held.id}"`))
        .map(({ event }) => event);
      const isSeen = seers[access].held.includes(name);
      expect([name, kinds]).toEqual([name, isSeen ? ['task', 'deferral'] : []]);
    }
  });

  it.each(rows)('$name reveals nothing to other callers', async (row) => {
    const shared = await given(row.kind);
    const before = await standing(shared.id);
    for (const [name, client] of callers()) {
      if (seers[access][row.kind].includes(name)) continue;
      const answer = bare(await ask(client, row.request(shared)), shared);
      const unknown = { id: 'unknown', deferralId: 'unknown' };
      const expected = row.refusal ?? bare(await ask(client, row.request(unknown)), unknown);
      expect([name, answer]).toEqual([name, expect.objectContaining(expected)]);
    }
    expect(await standing(shared.id)).toEqual(before);
    for (const [name, client] of callers()) {
      if (!seers[access][row.kind].includes(name)) continue;
      const task = row.isChange ? await given(row.kind) : shared;
      const told = row.isStream
        ? await firstEvent(client, row.request(task))
        : await ask(client, row.request(task));
      expect([name, told]).toMatchObject([name, row.seen(task)]);
    }
  });

  /** A task and its permitted callers, as the operator sees them. */
  async function standing(id: string): Promise<unknown> {
    const operator = agent.as(agent.token);
    const task = await operator.get(`/tasks/${id}?decisions=true`);
    const receivers = await operator.get(`/a2a/tasks/${id}/pushNotificationConfigs`);
    return [task.body, receivers.body];
  }
});

function ask(client: AgentClient, { method, path, body, headers = {} }: Routed): Promise<Answer> {
  // A stream that opens for a forbidden caller has no end.
  const signal = AbortSignal.timeout(10_000);
  return client.request(method, path, { headers, signal, ...(body === undefined ? {} : { body }) });
}

/** All of an answer that could give something away, without the id that was asked for. */
function bare({ status, headers, body }: Answer, { id, deferralId }: Given): object {
  const {
    date: _,
    'x-correlation-id': __,
    'content-length': ___,
    ...kept
  } = Object.fromEntries(headers);
  const text = JSON.stringify(body).replaceAll(deferralId, 'ID').replaceAll(id, 'ID');
  return { status, headers: kept, body: JSON.parse(text) as unknown };
}

const over = (id: string) =>
  expect.objectContaining({ event: 'deferral', data: { task_id: id, deferral: null } });

/** What the first event of a stream brings. */
async function firstEvent(client: AgentClient, request: Routed) {
  const events = await stream(client, request);
  const first = await events.next();
  events.leave();
  return first?.data;
}

async function stream(client: AgentClient, { method, path, body, headers }: Routed) {
  const abort = new AbortController();
  const response = await client.open(method, path, {
    signal: abort.signal,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  });
  return new EventReader(response, abort);
}

function tokenOf(name: string): string {
  return `token-of-${name}-0123456789abcdef`;
}

function settingsOf(access: string) {
  const fast = { read_rps: 1e6, read_burst: 1e6, write_rps: 1e6, write_burst: 1e6 };
  const approvers = [people.approver.email, people.outsider.email];
  return {
    ...deferring({ approvers, timeout: '1h' }, { max_pending_per_caller: 10_000 }),
    server: { task_access: access, rate_limit: fast },
    egress: { allowed_domains: ['127.0.0.1'], allow_private_ips: true },
    auth: {
      required: true,
      providers: Object.entries(people).map(([name, { email, org }]) => ({
        type: 'static_token',
        name,
        settings: {
          token: tokenOf(name),
          identity: { user_id: name, email, claims: org === null ? {} : { org_id: org } },
        },
      })),
    },
  };
}
