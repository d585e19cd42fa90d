import { beforeAll, describe, expect, it } from 'vitest';
import { launchAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { refusedAtDoor } from './wire-surfaces.ts';

/** What refuses below `/v1` and `/a2a`. */
const refused = (status: number, error: string) =>
  refusedAtDoor({ isRpc: false }, status, { error });

let agent: TestAgent;

beforeAll(async () => {
  agent = await launchAgent();
  return () => agent.close();
});

describe.each([
  ['/v1', { role: 'ROLE_USER', messageId: 'm1', content: [{ text: 'hi' }] }],
  ['/a2a', { role: 'ROLE_USER', messageId: 'm1', parts: [{ text: 'hi' }] }],
])('the routes below %s', (base, message) => {
  const told = async (method: string, path: string, options = {}) => {
    const { status, headers, body } = await agent.request(method, base + path, options);
    return { status, allow: headers.get('allow'), body };
  };

  it.each([
    ['GET', ''],
    ['GET', '/'],
    ['GET', '/nothing'],
    ['POST', '/message'],
    ['POST', '/MESSAGE:SEND'],
    ['POST', '/message:SEND'],
    ['POST', '/Message:stream'],
    ['POST', '/tenant/message:send'],
    ['POST', '/tenant/message:stream'],
    ['POST', '//message:send'],
    ['POST', '/message%3Asend'],
    ['GET', '/tenant/tasks/t1'],
    ['GET', '/tasks/t1/pushNotificationConfigs/c1/more'],
  ])('%s %s is not found, and starts nothing', async (method, path) => {
    const body = method === 'POST' ? { body: { message } } : {};
    const before = (await agent.get('/tasks')).body;
    expect(await told(method, path, body)).toEqual({ ...refused(404, 'not found'), allow: null });
    expect((await agent.get('/tasks')).body).toEqual(before);
  });

  it.each([
    ['GET', '/message:send', 'POST'],
    ['PUT', '/message:stream', 'POST'],
    ['POST', '/tasks/t1', 'HEAD, GET'],
    ['DELETE', '/tasks/t1', 'HEAD, GET'],
    ['PATCH', '/tasks/t1/pushNotificationConfigs', 'POST, HEAD, GET'],
    ['POST', '/tasks/t1/pushNotificationConfigs/c1', 'HEAD, GET, DELETE'],
  ])('%s %s is not allowed', async (method, path, allow) => {
    expect(await told(method, path)).toEqual({ ...refused(405, 'method not allowed'), allow });
  });

  it('report the methods of a path', async () => {
    expect(await told('OPTIONS', '/message:send')).toEqual({
      status: 204,
      allow: 'POST',
      body: '',
    });
  });

  it('accept only bodies of the JSON or A2A type', async () => {
    const sent = (type: string) =>
      told('POST', '/message:send', { body: { message }, headers: { 'content-type': type } });
    for (const type of [
      'application/json',
      'application/a2a+json',
      'application/json; charset=utf-8',
    ]) {
      expect((await sent(type)).status).toBe(base === '/v1' ? 201 : 200);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      expect(await sent(type)).toEqual({
        ...refused(415, 'send the body as application/json'),
        allow: null,
      });
    }
  });

  it.each([
    ['half of a body', '{"message"', 'the body is not valid JSON'],
    ['a prototype', '{"__proto__":{"polluted":1}}', 'the body is not valid JSON'],
    ['65 levels', '['.repeat(65) + ']'.repeat(65), 'the JSON is nested deeper than 64 levels'],
  ])('refuse %s', async (_, body, error) => {
    for (const path of ['/message:send', '/message:stream', '/tasks/t1:cancel']) {
      expect(await told('POST', path, { body })).toEqual({ ...refused(400, error), allow: null });
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('refuse a body that is too long', async () => {
    const body = JSON.stringify({ message, more: 'x'.repeat(2 * 1024 * 1024) });
    expect(await told('POST', '/message:send', { body })).toEqual({
      ...refused(413, 'the body is longer than 2097152 bytes'),
      allow: null,
    });
  });

  it('refuse an undecodable path', async () => {
    expect(await told('GET', '/tasks/%E0%A4%A')).toEqual({
      ...refused(400, 'the path is not valid'),
      allow: null,
    });
  });

  it('refuse another type where a request needs no body', async () => {
    const { body } = await agent.get(`${base}/tasks/none`, { 'content-type': 'text/plain' });
    const [code, text] = [body.code ?? body.error.code, body.message ?? body.error.message];
    expect([code, text]).toEqual(
      base === '/v1'
        ? [-32001, 'task not found']
        : [
            400,
            'Unsupported Content-Type "text/plain"; expected application/json or application/a2a+json.',
          ],
    );
  });

  it('answer HEAD with the headers of GET', async () => {
    const { body } = await agent.post(`${base}/message:send`, { message });
    const got = await agent.get(`${base}/tasks/${body.task.id}`);
    const head = await agent.request('HEAD', `${base}/tasks/${body.task.id}`);
    expect([head.status, head.headers.get('content-type'), head.body]).toEqual([
      200,
      got.headers.get('content-type'),
      '',
    ]);
  });
});

describe('the list of tasks of A2A 1.0', () => {
  const refusal = (message: string) => ({
    error: {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message,
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'INVALID_PARAMS',
          domain: 'a2a-protocol.org',
        },
      ],
    },
  });

  it.each([
    ['pageSize=0', 'pageSize must be between 1 and 100'],
    ['pageSize=101', 'pageSize must be between 1 and 100'],
    ['pageSize=x', 'pageSize must be a valid integer'],
    ['pageToken=x', 'pageToken must be the nextPageToken of the page before'],
    ['status=x', 'status must be a state of a task'],
    ['status=99', 'status must be a state of a task'],
    ['historyLength=-1', 'historyLength must be non-negative'],
    ['statusTimestampAfter=x', 'statusTimestampAfter must be an RFC 3339 time'],
  ])('is refused for %s', async (query, message) => {
    const { status, body } = await agent.get(`/a2a/tasks?${query}`);
    expect({ status, body }).toEqual({ status: 400, body: refusal(message) });
  });

  it.each([
    [{ pageSize: 0 }, 'pageSize must be a whole number from 1 to 100'],
    [{ pageSize: 1.5 }, 'pageSize must be a whole number from 1 to 100'],
    [{ pageToken: 'x' }, 'pageToken must be the nextPageToken of the page before'],
    [{ status: 'x' }, 'status must be a state of a task'],
    [{ historyLength: -1 }, 'historyLength must be a whole number'],
    [{ statusTimestampAfter: 'x' }, 'statusTimestampAfter must be an RFC 3339 time'],
  ])('is refused over JSON-RPC for %j', async (params, message) => {
    const { details } = refusal('').error;
    expect((await agent.rpc('ListTasks', params)).body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32602, message, data: details },
    });
  });

  it('has pages of the tasks of a state and of a conversation', async () => {
    for (let index = 0; index < 3; index += 1) {
      const message = {
        role: 'ROLE_USER',
        messageId: `page-${index}`,
        contextId: 'here',
        parts: [{ text: 'x' }],
      };
      await agent.post('/a2a/message:send', { message });
    }
    const page = (more: string) =>
      agent.get(`/a2a/tasks?contextId=here&status=TASK_STATE_COMPLETED&pageSize=2${more}`);
    const first = (await page('')).body;
    expect({ ...first, tasks: first.tasks.length }).toEqual({
      tasks: 2,
      nextPageToken: expect.stringMatching(/./),
      pageSize: 2,
      totalSize: 3,
    });
    const { body } = await page(`&pageToken=${first.nextPageToken}`);
    expect({ ...body, tasks: body.tasks.length }).toEqual({
      tasks: 1,
      nextPageToken: '',
      pageSize: 2,
      totalSize: 3,
    });
    const listed = await agent.rpc('ListTasks', { contextId: 'here', pageSize: 2 });
    expect(listed.body.result).toEqual(first);
  });
});
