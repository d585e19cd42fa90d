import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { saying } from '../helpers/agent-client.ts';
import { launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

const limit = 2 * 1024 * 1024;

let agent: TestAgent;

async function launch(): Promise<() => Promise<void>> {
  agent = await launchAgent();
  return () => agent.close();
}

describe('a body that cannot be read', () => {
  beforeAll(launch);

  const malformed = { error: 'the body is not valid JSON', code: 'invalid_json' };
  const tooDeep = { error: 'the JSON is nested deeper than 64 levels' };
  it.each([
    ['cut short', '{"message":', 400, malformed],
    ['no JSON', 'hello', 400, malformed],
    ['two values', '{}{}', 400, malformed],
    ['only a comma', '{"a":1,}', 400, malformed],
    ['a single quote', '"', 400, malformed],
    ['a prototype', '{"__proto__":{"polluted":1}}', 400, malformed],
    ['a nested prototype', '{"message":{"parts":[{"__proto__":{}}]}}', 400, malformed],
    ['65 levels', '['.repeat(65) + ']'.repeat(65), 400, tooDeep],
    ['5000 levels', '{"a":'.repeat(5000) + '1' + '}'.repeat(5000), 400, tooDeep],
    ['two million unclosed levels', '['.repeat(2 ** 21), 400, tooDeep],
    ['a million levels', '['.repeat(1_000_000) + ']'.repeat(1_000_000), 400, tooDeep],
  ])('is refused when it is %s', async (_, body, status, expected) => {
    expect(await agent.post('/tasks/send', body)).toMatchObject({ status, body: expected });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('is refused when a key is repeated in one object, on every route', async () => {
    const error = 'a key is repeated in one object; send each key once';
    const parts = '[{"kind":"data","data":{"amount":5,"\\u0061mount":500}}]';
    const sent = await agent.post('/tasks/send', `{"message":{"parts":${parts}}}`);
    expect(sent).toMatchObject({ status: 400, body: { error } });
    const decision = '{"decision":"reject","decision":"approve"}';
    expect((await agent.post('/tasks/t1/decisions', decision)).status).toBe(400);
    const message = `{"role":"user","messageId":"m1","parts":${parts}}`;
    const params = `{"message":${message}}`;
    const call = `{"jsonrpc":"2.0","id":7,"method":"message/send","params":${params}}`;
    expect((await agent.post('/', call)).body).toMatchObject({
      error: { code: -32700, message: `parse error: ${error}` },
    });
    expect((await agent.post('/v1/message:send', params)).status).toBe(400);
    const apart = '{"message":{"parts":[{"kind":"data","data":[{"a":1},{"a":2,"b":{"a":3}}]}]}}';
    expect((await agent.post('/tasks/send', apart)).status).toBe(200);
  });

  it('is refused when it is not UTF-8', async () => {
    const body = Buffer.from('{"message":{"parts":[{"kind":"text","text":"\xff"}]}}', 'latin1');
    expect(await agent.post('/tasks/send', body as never)).toMatchObject({
      status: 400,
      body: { error: 'the body is not valid UTF-8', code: 'invalid_json' },
    });
  });

  it('is refused with a number that would be rounded, on every route', async () => {
    const number = '2512292042121000001';
    const error = `the number ${number} cannot be read without changing it; send it as a string`;
    const parts = `[{"kind":"data","data":{"account_id":${number}}}]`;
    const message = `{"role":"user","messageId":"m1","parts":${parts}}`;
    const call = (id: string, params = `{"message":${message}}`) =>
      agent.post('/', `{"jsonrpc":"2.0","id":${id},"method":"message/send","params":${params}}`);
    expect(await agent.post('/tasks/send', `{"message":{"parts":${parts}}}`)).toMatchObject({
      status: 400,
      body: { error },
    });
    expect((await call('7')).body).toEqual({
      ...{ jsonrpc: '2.0', id: 7 },
      error: { code: -32602, message: error },
    });
    expect((await call('9007199254740993', '{}')).body).toEqual({
      ...{ jsonrpc: '2.0', id: null },
      error: { code: -32600, message: 'id must be a string or an integer within ±(2^53 - 1)' },
    });
  });

  it.each(['QQ', 'QQ=', 'QR==', 'Q-==', 'QQ==\n'])(
    'is refused with a file that is not base64: %j',
    async (bytes) => {
      const parts = [{ kind: 'file', file: { bytes } }];
      expect(await agent.post('/tasks/send', JSON.stringify({ message: { parts } }))).toMatchObject(
        { status: 400, body: { error: 'message.parts.0.file.bytes must be base64' } },
      );
      const message = { role: 'user', kind: 'message', messageId: 'm1', parts };
      const asked = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
      expect((await agent.post('/', JSON.stringify(asked))).body.error).toEqual({
        code: -32602,
        message: 'message.parts.0.file.bytes must be base64',
      });
      const rest = await agent.post(
        '/a2a/message:send',
        JSON.stringify({
          message: { role: 'ROLE_USER', messageId: 'm1', parts: [{ raw: bytes }] },
        }),
      );
      expect([rest.status, rest.body.error.message ?? rest.body.error]).toEqual([
        400,
        'message.parts.0.raw must be base64',
      ]);
    },
  );

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'nonsense',
  ])('is refused with 415 as %s', async (type) => {
    const body = JSON.stringify({ message: saying('hi') });
    expect(await agent.post('/tasks/send', body, { 'content-type': type })).toMatchObject({
      status: 415,
      body: { error: 'send the body as application/json', code: 'unsupported_media_type' },
    });
  });

  it('is refused with 415 in an unknown encoding', async () => {
    const headers = { 'content-encoding': 'rot13' };
    expect(await agent.post('/tasks/send', '{}', headers)).toMatchObject({
      status: 415,
      body: { error: 'the content encoding is unknown', code: 'unsupported_media_type' },
    });
  });

  it('is read at 64 levels, and with a charset', async () => {
    const data = JSON.parse('['.repeat(60) + ']'.repeat(60)) as unknown;
    const body = JSON.stringify({ message: { parts: [{ kind: 'data', data }] } });
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await agent.post('/tasks/send', body, headers)).status).toBe(200);
  });
});

describe('the length of a body', () => {
  beforeAll(launch);

  const sized = (bytes: number): string => {
    const empty = JSON.stringify({ id: 'big', message: saying('') });
    return JSON.stringify({ id: 'big', message: saying('x'.repeat(bytes - empty.length)) });
  };
  const refusal = {
    status: 413,
    body: { error: `the body is longer than ${limit} bytes`, code: 'body_too_large' },
  };

  it('may be 2 MiB and no byte more', async () => {
    expect((await agent.post('/tasks/send', sized(limit))).status).toBe(200);
    expect(await agent.post('/tasks/send', sized(limit + 1))).toMatchObject(refusal);
  });

  it('is measured after unpacking', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const fits = await agent.post('/tasks/send', gzipSync(sized(1000)), headers);
    expect(textOf(fits)).toMatch(/^echo: x+$/);
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(limit);
    expect(await agent.post('/tasks/send', bomb, headers)).toMatchObject(refusal);
  });

  it('is not read to its end without a length', async () => {
    const { answer, written } = await pour();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    // What the kernel buffers on both sides comes on top of what the daemon reads.
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  /** Sends a body without an end until the connection is closed. */
  async function pour(): Promise<{ answer: string; written: number }> {
    const { hostname, port } = new URL(agent.url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.write(
      'POST /tasks/send HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const push = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', push);
    push();
    await closed;
    return { answer, written: socket.bytesWritten };
  }
});

describe('a send', () => {
  beforeAll(launch);

  const shape = 'the body must be {"task": {"id", "message"}} or {"id", "message"}';
  const text = { kind: 'text', text: 'hi' };
  it.each([
    ['nothing', undefined, shape],
    ['a list', [], shape],
    ['no message', {}, 'message must be an object with parts'],
    ['a message as a string', { message: 'hi' }, 'message must be an object with parts'],
    ['a wrapped task without a message', { task: {} }, 'task.message must be an object with parts'],
    ['no parts', { message: {} }, 'message.parts must be a list of parts'],
    [
      'an empty list of parts',
      { message: { parts: [] } },
      'message.parts must hold at least one part',
    ],
    [
      'too many parts',
      { message: { parts: Array(1001).fill(text) } },
      'message.parts must hold at most 1000 parts',
    ],
    ['another role', { message: { role: 'agent', parts: [text] } }, 'message.role must be "user"'],
    [
      'a part without a kind',
      { message: { parts: [{ text: 'hi' }] } },
      'message.parts.0.kind must be text, data or file',
    ],
    [
      'a part of an unknown kind',
      { message: { parts: [{ kind: 'sound' }] } },
      'message.parts.0.kind must be text, data or file',
    ],
    [
      'a part that is null',
      { message: { parts: [null] } },
      'message.parts.0 must be text, data or file',
    ],
    [
      'a text that is not a string',
      { message: { parts: [text, { kind: 'text', text: 5 }] } },
      'message.parts.1.text must be a string',
    ],
    ['no data', { message: { parts: [{ kind: 'data' }] } }, 'message.parts.0.data must be JSON'],
    [
      'no file',
      { message: { parts: [{ kind: 'file' }] } },
      'message.parts.0.file must be an object with uri or bytes',
    ],
    [
      'an empty file',
      { message: { parts: [{ kind: 'file', file: {} }] } },
      'message.parts.0.file must have exactly one of uri and bytes',
    ],
    [
      'a file with two sources',
      { message: { parts: [{ kind: 'file', file: { uri: 'a:b', bytes: '' } }] } },
      'message.parts.0.file must have exactly one of uri and bytes',
    ],
    [
      'invalid bytes',
      { message: { parts: [{ kind: 'file', file: { bytes: '%' } }] } },
      'message.parts.0.file.bytes must be base64',
    ],
    ['a number for an id', { id: 7, message: { parts: [text] } }, 'id must be a string'],
    [
      'an empty id',
      { id: '', message: { parts: [text] } },
      'id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, the first a letter or a digit',
    ],
    [
      'a long id',
      { id: 'x'.repeat(129), message: { parts: [text] } },
      'id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, the first a letter or a digit',
    ],
    [
      'a path for an id',
      { task: { id: '../x', message: { parts: [text] } } },
      'task.id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, the first a letter or a digit',
    ],
    [
      'an id with a newline',
      { id: 'x\n', message: { parts: [text] } },
      'id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, the first a letter or a digit',
    ],
    ...['.', '..', '-h', '--json', '-', '_x', ':x', '.x'].map((id): [string, object, string] => [
      `${id} for an id`,
      { id, message: { parts: [text] } },
      'id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, the first a letter or a digit',
    ]),
  ])('with %s is refused with a message', async (_, body, error) => {
    const refusal = { status: 400, body: { error } };
    expect(await agent.post('/tasks/send', body)).toMatchObject(refusal);
    expect((await agent.rpc('tasks/send', body)).body.error).toEqual({
      code: -32602,
      message: error,
    });
    expect(await agent.post('/tasks/sendSubscribe', body)).toMatchObject(refusal);
    expect((await agent.get('/tasks')).body).toEqual({ tasks: [] });
  });

  it('accepts every kind of part, an id of every character, and unknown keys', async () => {
    const id = `AZaz09._:-${'x'.repeat(118)}`;
    const parts = [
      text,
      { type: 'text', text: 'older' },
      { kind: 'data', data: null, cacheHint: 'x' },
      { kind: 'file', file: { name: 'a.txt', mimeType: 'text/plain', bytes: 'aGk=' } },
      { kind: 'file', file: { uri: 'https://files.example/a' } },
    ];
    const message = {
      role: 'user',
      parts,
      messageId: 'a message, by hand',
      kind: 'message',
      vendor: {},
    };
    const task = { id, contextId: 'thread/7', message, cache_control: { type: 'ephemeral' } };
    const { status, body } = await agent.post('/tasks/send', { task, provider: { name: 'x' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, contextId: 'thread/7', kind: 'task' });
    expect(body.history[0]).toEqual({
      kind: 'message',
      role: 'user',
      messageId: 'a message, by hand',
      parts: [
        text,
        { kind: 'text', text: 'older' },
        { kind: 'data', data: null },
        { kind: 'file', file: { name: 'a.txt', mimeType: 'text/plain', bytes: 'aGk=' } },
        { kind: 'file', file: { uri: 'https://files.example/a' } },
      ],
    });
  });
});
