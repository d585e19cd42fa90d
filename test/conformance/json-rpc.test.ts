import { beforeAll, describe, expect, it } from 'vitest';
import { playing, saying } from '../helpers/agent-client.ts';
import { launchAgent, type TestAgent } from '../helpers/test-agent.ts';

let agent: TestAgent;

async function launch(): Promise<() => Promise<void>> {
  agent = await launchAgent();
  return () => agent.close();
}

/** The answer to a refused request. */
function refusal(code: number, message: unknown, id: unknown = null) {
  return { status: 200, body: { jsonrpc: '2.0', id, error: { code, message } } };
}

describe('a body that is not a request', () => {
  beforeAll(launch);

  const version = 'jsonrpc must be "2.0"';
  it.each([
    ['nothing', undefined, -32700, 'parse error: the body is empty'],
    ['half of a body', '{"jsonrpc"', -32700, 'parse error: the body is not valid JSON'],
    ['no JSON', 'tasks/get', -32700, 'parse error: the body is not valid JSON'],
    ['a prototype', '{"__proto__":{}}', -32700, 'parse error: the body is not valid JSON'],
    [
      '65 levels',
      '['.repeat(65) + ']'.repeat(65),
      -32700,
      'parse error: the JSON is nested deeper than 64 levels',
    ],
    ['a number', '1', -32600, version],
    ['a word', '"tasks/get"', -32600, version],
    ['null', 'null', -32600, version],
    ['an empty object', {}, -32600, version],
    [
      'a batch',
      [{ jsonrpc: '2.0', id: 1, method: 'tasks/get' }],
      -32600,
      'batches are not supported; send one request',
    ],
    ['an empty batch', [], -32600, 'batches are not supported; send one request'],
    [
      'a notification',
      { jsonrpc: '2.0', method: 'tasks/send', params: { message: saying('x') } },
      -32600,
      'id must be a string or a number',
    ],
    [
      'an id that is null',
      { jsonrpc: '2.0', id: null, method: 'tasks/get' },
      -32600,
      'id must be a string or a number',
    ],
    [
      'an id that is an object',
      { jsonrpc: '2.0', id: {}, method: 'tasks/get' },
      -32600,
      'id must be a string or a number',
    ],
  ])('%s is refused', async (_, body, code, message) => {
    expect(await agent.post('/', body)).toMatchObject(refusal(code, message));
    expect((await agent.get('/tasks')).body).toEqual({ tasks: [] });
  });

  it.each([
    [{ id: 7, method: 'tasks/get' }, version, 7],
    [{ jsonrpc: '1.0', id: 'a', method: 'tasks/get' }, version, 'a'],
    [{ jsonrpc: '2.0', id: 0 }, 'method must be a string', 0],
    [{ jsonrpc: '2.0', id: '', method: 7 }, 'method must be a string', ''],
  ])('%j is refused under its id', async (body, message, id) => {
    expect(await agent.post('/', body)).toMatchObject(refusal(-32600, message, id));
  });

  it('of another type is 415, and one that is too long 413, as everywhere', async () => {
    expect((await agent.post('/', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await agent.post('/', 'x'.repeat(2 * 1024 * 1024 + 1))).status).toBe(413);
  });
});

describe('a method', () => {
  beforeAll(launch);

  it.each(['', 'tasks/unknown', 'TASKS/SEND', 'constructor', '__proto__', 'toString', '\n'])(
    'named %j is not found',
    async (method) => {
      expect(await agent.rpc(method, {})).toMatchObject(
        refusal(-32601, `unknown method: ${method}`, 1),
      );
    },
  );

  it.each([1, 0, -5, 1.5, 2 ** 53 - 1, '', 'ä', 'x'.repeat(1000)])(
    'echoes the id %j',
    async (id) => {
      expect((await agent.rpc('tasks/get', { id: 'none' }, id)).body.id).toBe(id);
    },
  );

  const idNeeded = 'params.id must be the id of a task';
  it.each([
    ['tasks/get', undefined, idNeeded],
    ['tasks/get', null, idNeeded],
    ['tasks/get', ['t1'], idNeeded],
    ['tasks/get', { id: 7 }, idNeeded],
    ['tasks/get', { id: '../x' }, idNeeded],
    ['tasks/get', { id: 'none', historyLength: -1 }, undefined],
    ['tasks/cancel', {}, idNeeded],
    ['tasks/cancel', { id: 'none', reason: 5 }, 'reason must be a string'],
    ['tasks/send', undefined, 'the body must be {"task": {"id", "message"}} or {"id", "message"}'],
    ['tasks/send', { message: { parts: [] } }, 'message.parts must hold at least one part'],
    ['tasks/sendSubscribe', { message: {} }, 'message.parts must be a list of parts'],
  ])('%s with %j is refused for its params', async (method, params, message) => {
    const expected =
      message === undefined ? refusal(-32001, 'task not found', 1) : refusal(-32602, message, 1);
    expect(await agent.rpc(method, params)).toMatchObject(expected);
  });

  it.each(['tasks/get', 'tasks/cancel'])('%s of an unknown task is -32001', async (method) => {
    expect((await agent.rpc(method, { id: 'none' }, 'q')).body).toEqual({
      jsonrpc: '2.0',
      id: 'q',
      error: { code: -32001, message: 'task not found', data: { error: 'task not found' } },
    });
  });

  it('tasks/send and tasks/get answer with the same task as REST', async () => {
    const params = { id: 't1', message: saying('hello'), provider: { routing: 'x' } };
    const sent = await agent.rpc('tasks/send', params, 9);
    expect(sent.status).toBe(200);
    expect(sent.body).toEqual({
      jsonrpc: '2.0',
      id: 9,
      result: (await agent.get('/tasks/t1')).body,
    });
    const got = await agent.rpc('tasks/get', { id: 't1', historyLength: 1 });
    expect(got.body.result).toEqual((await agent.get('/tasks/t1?historyLength=1')).body);
    expect(got.body.result.history).toHaveLength(1);
    for (const historyLength of [-1, 1.5, '1', {}]) {
      expect(await agent.rpc('tasks/get', { id: 't1', historyLength })).toMatchObject(
        refusal(-32602, 'params.historyLength must be a whole number', 1),
      );
    }
  });

  it('tasks/sendSubscribe streams as REST does', async () => {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tasks/sendSubscribe',
      params: { id: 't1', message: playing([{ say: 'hi there' }]) },
    };
    const stream = await agent.stream('/', { body });
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    const events = await stream.rest();
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { id: 't1', kind: 'task' } });
    expect(events.at(-1)?.data).toEqual((await agent.get('/tasks/t1')).body);
  });

  it('a failed task is a result, not an error', async () => {
    const params = { id: 't1', message: playing([{ tool: 'break' }]) };
    const { status, body } = await agent.rpc('tasks/send', params);
    expect(status).toBe(200);
    expect(body.result.status).toMatchObject({ state: 'failed' });
    expect(body.error).toBeUndefined();
  });
});
