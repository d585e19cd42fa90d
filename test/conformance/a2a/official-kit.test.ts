import { beforeAll, describe, expect, it } from 'vitest';
import { saying } from '../../helpers/agent-client.ts';
import {
  deferring,
  launchAgent,
  startTestAgent,
  type TestAgent,
} from '../../helpers/test-agent.ts';
import { ask, openStream, wireSurfaces } from './wire-surfaces.ts';

/** What the protocol's official test kits of 1.0 and 0.3, and its client in Python, look at. */
let agent: TestAgent;

beforeAll(async () => {
  agent = await launchAgent({ ...deferring(), ...reaching } as object);
  return () => agent.close();
});

const reaching = {
  egress: { mode: 'allowlist', allowed_private: ['127.0.0.1:1'] },
};
const hook = 'http://127.0.0.1:1/hook';
const current = { 'A2A-Version': '1.0' };

async function finished(): Promise<string> {
  const { body } = await agent.post('/tasks/send', { message: saying('hi') });
  return body.id;
}

/** Reads an error as the client in Python does: it takes `error` for an object, and its details for a list. */
function reasonIn(payload: any): string | undefined {
  const { message, details = [] } = payload.error as { message: string; details?: any[] };
  expect(message).toEqual(expect.any(String));
  const type = 'type.googleapis.com/google.rpc.ErrorInfo';
  return details.find((one) => one['@type'] === type)?.reason;
}

describe('push notification configs', () => {
  it.each(wireSurfaces)('of $name are deleted twice with success', async (surface) => {
    const id = await finished();
    const config = { id: 'c1', url: hook };
    expect((await ask(agent, surface, 'setPush', { id, config })).status).toBeLessThan(300);
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await ask(agent, surface, 'deletePush', { id, configId: 'c1' });
      expect({ status, body }).toEqual({
        status: 200,
        body: surface.isRpc ? { jsonrpc: '2.0', id: 1, result: body.result } : {},
      });
    }
    const listed = await agent.get(`/a2a/tasks/${id}/pushNotificationConfigs`, current);
    expect(listed.body.configs ?? []).toEqual([]);
  });

  const named = (id: string, config: object) => ({
    name: `tasks/${id}`,
    pushNotificationConfig: config,
  });

  it.each<[string, (id: string) => object]>([
    ['bare', (id) => named(id, { id: 'mine', url: hook })],
    ['bare without its task', () => ({ pushNotificationConfig: { id: 'mine', url: hook } })],
    ['with only the config fields', () => ({ id: 'mine', url: hook })],
    ['as a config', (id) => ({ config: named(id, { id: 'mine', url: hook }) })],
    [
      'as a config of a task',
      (taskId) => ({ config: { taskId, pushNotificationConfig: { id: 'mine', url: hook } } }),
    ],
    ['as a config with its own fields', () => ({ config: { id: 'mine', url: hook } })],
    [
      'as Protocol Buffers write it',
      (id) => ({
        parent: `tasks/${id}`,
        config_id: 'mine',
        config: {
          name: `tasks/${id}/pushNotificationConfigs/mine`,
          push_notification_config: { id: 'mine', url: hook, token: '', authentication: {} },
        },
      }),
    ],
    [
      'with a separate id',
      (id) => ({
        parent: `tasks/${id}`,
        configId: 'mine',
        config: { pushNotificationConfig: { url: hook } },
      }),
    ],
  ])('of HTTP+JSON 0.3.0 are accepted %s', async (_, bodyOf) => {
    const id = await finished();
    const path = `/v1/tasks/${id}/pushNotificationConfigs`;
    const set = await agent.post(path, bodyOf(id));
    const shown = {
      name: `tasks/${id}/pushNotificationConfigs/mine`,
      pushNotificationConfig: expect.objectContaining({ id: 'mine', url: hook }),
    };
    expect({ status: set.status, body: set.body }).toEqual({ status: 201, body: shown });
    expect((await agent.get(`${path}/mine`)).body).toEqual(shown);
    expect((await agent.get(path)).body.configs).toEqual([shown]);
    expect((await agent.request('DELETE', `${path}/mine`)).body).toEqual({});
    expect((await agent.get(path)).body.configs ?? []).toEqual([]);
  });

  it('of HTTP+JSON 0.3.0 for another task than that of the path are refused', async () => {
    const [id, other] = [await finished(), await finished()];
    for (const body of [
      named(other, { url: hook }),
      { parent: `tasks/${other}`, config: { pushNotificationConfig: { url: hook } } },
      { config: { taskId: other, pushNotificationConfig: { url: hook } } },
    ]) {
      const answer = await agent.post(`/v1/tasks/${id}/pushNotificationConfigs`, body);
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 400,
        body: {
          error: {
            code: 400,
            status: 'INVALID_ARGUMENT',
            message: 'the body names another task than the path',
          },
        },
      });
    }
    for (const task of [id, other]) {
      const { body } = await agent.get(`/v1/tasks/${task}/pushNotificationConfigs`);
      expect(body.configs ?? []).toEqual([]);
    }
  });

  it('without an id get one, and are found without it', async () => {
    const id = await finished();
    const rpc = (method: string, params: object) =>
      agent.rpc(`tasks/pushNotificationConfig/${method}`, params);
    const set = await rpc('set', { taskId: id, pushNotificationConfig: { url: hook } });
    const { id: given } = set.body.result.pushNotificationConfig;
    expect(given).toMatch(/./);
    const got = await rpc('get', { id });
    expect(got.body.result.pushNotificationConfig).toMatchObject({ id: given, url: hook });
  });
});

describe('errors', () => {
  it.each(['/v1', '/a2a'])('below %s are read by the client in Python', async (base) => {
    const guarded = await startTestAgent({ auth: { required: true } });
    const wrongType = { 'content-type': 'text/plain' };
    const answers = [
      [await guarded.get(`${base}/tasks/t1`), 401, 'UNAUTHORIZED'],
      [await agent.get(`${base}/nothing`), 404, undefined],
      [await agent.request('PUT', `${base}/message:send`), 405, undefined],
      [await agent.post(`${base}/message:send`, '{'), 400, undefined],
      [
        await agent.post(`${base}/message:send`, '{}', wrongType),
        415,
        'CONTENT_TYPE_NOT_SUPPORTED',
      ],
    ] as const;
    for (const [{ status, body }, expected, reason] of answers) {
      expect({ status, reason: reasonIn(body) }).toEqual({ status: expected, reason });
    }
  });

  it('of another content type have the code of 1.0', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: {} };
    const headers = { 'content-type': 'text/plain', ...current };
    const answer = await agent.post('/', body, headers);
    expect([answer.status, answer.body.error.code]).toEqual([415, -32005]);
  });
});

describe('GET /v1/tasks', () => {
  it('lists a sent task, equal to the single one', async () => {
    const id = await finished();
    const { status, body } = await agent.get('/v1/tasks');
    expect(status).toBe(200);
    const listed = body.tasks.find((task: any) => task.id === id);
    const { artifacts: _, history: __, ...read } = (await agent.get(`/v1/tasks/${id}`)).body;
    expect({ ...listed, artifacts: undefined, history: undefined }).toEqual({
      ...read,
      artifacts: undefined,
      history: undefined,
    });
  });

  it('filters and pages like /a2a/tasks', async () => {
    const here = { contextId: 'listed here' };
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const { body } = await agent.post('/tasks/send', { message: { ...saying('x'), ...here } });
      ids.unshift(body.id);
    }
    const page = async (base: string, query: string) => {
      const { body } = await agent.get(`${base}/tasks?contextId=listed%20here&${query}`);
      return { ...body, tasks: body.tasks.map((task: any) => task.id) };
    };
    for (const query of ['pageSize=2', 'status=TASK_STATE_COMPLETED', 'status=TASK_STATE_FAILED']) {
      expect(await page('/v1', query)).toEqual(await page('/a2a', query));
    }
    const first = await page('/v1', 'page_size=2');
    expect(first).toEqual({
      tasks: ids.slice(0, 2),
      nextPageToken: expect.stringMatching(/./),
      pageSize: 2,
      totalSize: 3,
    });
    expect((await page('/v1', `page_size=2&page_token=${first.nextPageToken}`)).tasks).toEqual(
      ids.slice(2),
    );
    const { body } = await agent.get(
      '/v1/tasks?contextId=listed%20here&includeArtifacts=true&historyLength=1',
    );
    expect(body.tasks[0]).toEqual((await agent.get(`/v1/tasks/${ids[0]}?historyLength=1`)).body);
  });

  it('shows a wait and a cancel in the form of 0.3.0', async () => {
    const held = agent.send('listed-held', [{ tool: 'pay' }]);
    await agent.reached('listed-held', 'deferred');
    const states = async (status: string) =>
      (await agent.get(`/v1/tasks?status=${status}`)).body.tasks.map((task: any) => [
        task.id,
        task.status.state,
      ]);
    const waiting = 'TASK_STATE_AUTH_REQUIRED';
    expect(await states(waiting)).toEqual([['listed-held', waiting]]);
    await agent.post('/tasks/listed-held/cancel');
    await held;
    const canceled = 'TASK_STATE_CANCELLED';
    expect(await states(canceled)).toEqual([['listed-held', canceled]]);
  });

  it.each([
    ['pageSize=0', 'pageSize must be a whole number from 1 to 100'],
    ['pageSize=x', 'pageSize must be a whole number from 1 to 100'],
    ['pageToken=x', 'pageToken must be the nextPageToken of the page before'],
    ['status=x', 'status must be a state of a task'],
    ['historyLength=-1', 'historyLength must be a whole number'],
    ['statusTimestampAfter=x', 'statusTimestampAfter must be an RFC 3339 time'],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await agent.get(`/v1/tasks?${query}`);
    expect({ status, body }).toEqual({ status: 400, body: { code: -32602, message } });
  });

  it('refuses a version other than that of its path', async () => {
    const { status, body } = await agent.get('/v1/tasks', current);
    expect({ status, code: body.code }).toEqual({ status: 400, code: -32009 });
  });

  it('is empty without tasks', async () => {
    const { body } = await agent.get('/v1/tasks?contextId=nowhere');
    expect(body).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
  });
});

describe('a JSON-RPC request without an id', () => {
  const asked = async (method: string, params: unknown, headers = {}) => {
    const { status, body } = await agent.post('/', { jsonrpc: '2.0', method, params }, headers);
    return { status, id: body.id, code: body.error?.code };
  };
  const told = (code: number) => ({ status: 200, id: null, code });
  const text03 = {
    kind: 'message',
    role: 'user',
    messageId: 'm',
    parts: [{ kind: 'text', text: 'x' }],
  };
  const text10 = { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'x' }] };

  it.each<[string, unknown]>([
    ['message/ssend', {}],
    ['tasks/nothing', { id: 't' }],
    ['Nothing', undefined],
  ])('for %s is refused as an unknown method', async (method, params) => {
    expect(await asked(method, params)).toEqual(told(-32601));
  });

  it.each<[string, unknown]>([
    ['message/send', { '': 'not_a_dict' }],
    ['message/send', 'x'],
    ['message/send', { message: { ...text03, parts: [] } }],
    ['message/stream', { message: { ...text03, parts: 'x' } }],
    ['SendMessage', []],
    ['SendMessage', { message: { ...text10, parts: [] } }],
    ['SendMessage', {}],
    ['SendStreamingMessage', {}],
    ['GetTask', {}],
    ['CancelTask', { id: ' ' }],
    ['SubscribeToTask', {}],
    ['GetTaskPushNotificationConfig', { id: 'c' }],
    ['tasks/resubscribe', {}],
    ['tasks/pushNotificationConfig/list', {}],
    ['tasks/send', { message: { parts: [] } }],
    ['tasks/sendSubscribe', {}],
    ['tasks/get', {}],
    ['tasks/cancel', { id: 5 }],
  ])('for %s with %j is refused with its error', async (method, params) => {
    expect(await asked(method, params)).toEqual(told(-32602));
  });

  it.each<[string, unknown]>([
    ['message/send', { message: text03 }],
    ['message/stream', { message: text03 }],
    ['SendMessage', { message: text10 }],
    ['SendStreamingMessage', { message: text10 }],
    ['ListTasks', {}],
    ['tasks/send', { message: text03 }],
    ['tasks/sendSubscribe', { message: text03 }],
    ['tasks/get', { id: 't' }],
    ['tasks/cancel', { id: 't' }],
    ['tasks/resubscribe', { id: 't' }],
    ['CancelTask', { id: 't' }],
  ])('for the executable method %s is refused, and nothing starts', async (method, params) => {
    const before = (await agent.get('/tasks')).body;
    expect(await asked(method, params)).toEqual(told(-32600));
    expect((await agent.get('/tasks')).body).toEqual(before);
  });

  it('cancels nothing', async () => {
    const held = agent.send('kept', [{ tool: 'pay' }]);
    await agent.reached('kept', 'deferred');
    for (const method of ['tasks/cancel', 'CancelTask']) {
      expect(await asked(method, { id: 'kept' })).toEqual(told(-32600));
    }
    expect((await agent.get('/tasks/kept')).body.status.state).toBe('deferred');
    await agent.post('/tasks/kept/cancel');
    await held;
  });

  it('with an invalid id is refused before all other checks', async () => {
    const body = { jsonrpc: '2.0', id: { bad: 'type' }, method: 'message/send', params: {} };
    expect((await agent.post('/', body)).body.error.code).toBe(-32600);
  });
});

describe.each(wireSurfaces)('a fast stream of $name', (surface) => {
  it('sends each step in its own event, and the answer only in the artifact', async () => {
    const message = surface.playing([{ say: 'the answer' }]);
    const stream = await openStream(agent, surface, 'stream', { message });
    const events = (await stream.rest()).map(({ data }) => surface.resultOf(data));
    const kinds = events.map((event) => {
      if (event.artifact !== undefined || event.artifactUpdate !== undefined) return 'artifact';
      const task = event.task ?? (event.kind === 'task' ? event : undefined);
      const { state, message: said, update } = (task ?? event.statusUpdate ?? event).status;
      expect([said, update]).toEqual([undefined, undefined]);
      return `${task === undefined ? 'status' : 'task'} ${state}`;
    });
    expect(kinds).toEqual([
      `task ${surface.state('submitted')}`,
      `status ${surface.state('working')}`,
      'artifact',
      `status ${surface.state('completed')}`,
    ]);
    const { id } = events[0].task ?? events[0];
    const read = surface.taskOf(await ask(agent, surface, 'get', { id }));
    expect(read.status).toEqual({
      state: surface.state('completed'),
      timestamp: expect.any(String),
    });
    expect(JSON.stringify(read.artifacts)).toContain('the answer');
  });

  it('describes a wait in text, and the legacy surface in its own form', async () => {
    const message = surface.playing([{ tool: 'pay' }]);
    const sent = await ask(agent, surface, 'send', { message });
    const task = surface.taskOf(sent);
    expect(JSON.stringify(task.status)).toContain('"Waiting for approval of pay"');
    const legacy = (await agent.get(`/tasks/${task.id}`)).body.status.message.parts[0].text;
    expect(legacy).toMatch(/^Deferred: awaiting .* decision on pay$/);
    await ask(agent, surface, 'cancel', { id: task.id });
    const ended = surface.taskOf(await ask(agent, surface, 'get', { id: task.id }));
    expect(JSON.stringify(ended.status)).toContain('"canceled: external_signal"');
  });
});
