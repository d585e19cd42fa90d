import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outbound } from '../../../../src/actors/ports/egress.ts';
import { ToolError, type ToolRun } from '../../../../src/actors/ports/tool.ts';
import { httpRequestOf } from '../../../../src/actors/tools/builtin/http-arguments.ts';
import { httpRequest } from '../../../../src/actors/tools/builtin/http-request.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';
import { notedOutbound, refusingOutbound } from '../../../helpers/noted-outbound.ts';
import { aBuiltin } from './a-builtin.ts';

interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server that answers as a test wants. */
async function serving(answer: (response: ServerResponse, seen: Seen) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    void text(request).then((body) => {
      const call = { method, url, headers, body };
      seen.push(call);
      answer(response, call);
    });
  });
  return { url: await listenOnLoopback(server), seen };
}

async function ask(
  args: JsonObject,
  outbound: Outbound | undefined = notedOutbound(),
  run: Partial<ToolRun> = {},
): Promise<string> {
  const tool = await aBuiltin('http_request');
  return tool.run(args, {
    taskId: 't1',
    callId: 'c1',
    correlationId: 'x1',
    tags: {},
    credential: null,
    signal: new AbortController().signal,
    ...(outbound === undefined ? {} : { outbound }),
    ...run,
  });
}

const hello = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': 'a=1', etag: '"1"' });
  response.end('hello');
};

describe('http_request', () => {
  it('returns the status, some headers and the text of an answer', async () => {
    const { url, seen } = await serving(hello);
    const outbound = notedOutbound();
    expect(JSON.parse(await ask({ url: `${url}/a?b=1` }, outbound))).toEqual({
      status: 200,
      headers: { 'content-type': 'text/plain', etag: '"1"' },
      body: 'hello',
    });
    expect(seen.map(({ method, url: path, body }) => [method, path, body])).toEqual([
      ['GET', '/a?b=1', ''],
    ]);
    expect(outbound.passed).toEqual([`GET ${url}/a?b=1`]);
  });

  it('sends a value as JSON', async () => {
    const { url, seen } = await serving(hello);
    await ask({ method: 'POST', url, json: { a: [1, null] }, headers: { 'X-Trace': 'é' } });
    expect(seen).toEqual([
      expect.objectContaining({ method: 'POST', url: '/', body: '{"a":[1,null]}' }),
    ]);
    expect(seen[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '14',
      'x-trace': 'é',
    });
  });

  it('sends a string under the given type', async () => {
    const { url, seen } = await serving(hello);
    await ask({ method: 'PUT', url, body: 'a,b', headers: { 'Content-Type': 'text/csv' } });
    expect(seen[0]).toMatchObject({ method: 'PUT', body: 'a,b' });
    expect(seen[0]?.headers['content-type']).toBe('text/csv');
  });

  it('sends a server no data about the caller of the agent', async () => {
    const { url, seen } = await serving(hello);
    await ask({ url }, notedOutbound(), { tags: { workflow_id: 'w1' } });
    expect(Object.keys(seen[0]?.headers ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'accept-language',
      'connection',
      'host',
      'sec-fetch-mode',
      'user-agent',
    ]);
  });

  it('returns an answer that is an error', async () => {
    const { url } = await serving((response) => {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '3' });
      response.end('{"busy":true}');
    });
    expect(JSON.parse(await ask({ url }))).toEqual({
      status: 503,
      headers: { 'content-type': 'application/json', 'retry-after': '3' },
      body: '{"busy":true}',
    });
  });

  it.each(['HEAD', 'GET'])(
    'has an empty text for an answer without a body to %s',
    async (method) => {
      const { url } = await serving((response) => response.writeHead(204).end());
      expect(JSON.parse(await ask({ url, method }))).toEqual({
        status: 204,
        headers: {},
        body: '',
      });
    },
  );
});

describe('the body of an answer', () => {
  const bodyOf = async (type: string | null, bytes: Buffer | string): Promise<unknown> => {
    const { url } = await serving((response) => {
      if (type !== null) response.setHeader('content-type', type);
      response.end(bytes);
    });
    return (JSON.parse(await ask({ url })) as { body: unknown }).body;
  };

  it.each([
    ['text/plain; charset=iso-8859-1', Buffer.from([0xe9]), 'é'],
    ['text/plain; charset=nonsense', Buffer.from('é'), 'é'],
    ['text/plain', Buffer.from([0x61, 0xff]), 'a\ufffd'],
    ['application/problem+json', Buffer.from('{}'), '{}'],
    ['Application/JSON; charset=utf-8', Buffer.from('{}'), '{}'],
    [null, Buffer.from('plain'), 'plain'],
  ])('is read as text when it is %s', async (type, bytes, expected) => {
    expect(await bodyOf(type, bytes)).toBe(expected);
  });

  it.each([
    ['image/png', Buffer.from('x'), 'image/png'],
    ['application/octet-stream', Buffer.from('x'), 'application/octet-stream'],
    ['text/plain', Buffer.from('a\0b'), 'text/plain'],
    [null, Buffer.from([0, 1, 2]), 'of no stated type'],
  ])('is omitted with a note when it is %s and not text', async (type, bytes, named) => {
    expect(await bodyOf(type, bytes)).toBe(`[omitted: the body is ${named}, not text]`);
  });

  it('is cut off after 1 MiB, with a mark', async () => {
    const size = 1024 * 1024;
    expect(await bodyOf('text/plain', 'a'.repeat(size))).toBe('a'.repeat(size));
    expect(await bodyOf('text/plain', 'a'.repeat(size + 1))).toBe(
      `${'a'.repeat(size)}\n[cut off after 1 MiB]`,
    );
  });

  it('is unpacked up to that size', async () => {
    const { url } = await serving((response) => {
      const head = { 'content-type': 'text/plain', 'content-encoding': 'gzip' };
      response.writeHead(200, head).end(gzipSync(Buffer.alloc(32 * 1024 * 1024, 'c')));
    });
    const { body } = JSON.parse(await ask({ url })) as { body: string };
    expect([body.length, body.slice(-23)]).toEqual([1024 * 1024 + 22, 'c\n[cut off after 1 MiB]']);
  });

  it('is not read to its end when it has none', async () => {
    let isClosed: () => void = () => undefined;
    const closed = new Promise<void>((done) => {
      isClosed = done;
    });
    const { url } = await serving((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const fill = () => {
        while (response.write('b'.repeat(65_536)));
      };
      response.on('drain', fill).on('close', isClosed);
      fill();
    });
    const { body } = JSON.parse(await ask({ url })) as { body: string };
    expect(body.slice(-23)).toBe('b\n[cut off after 1 MiB]');
    await closed;
  });
});

describe('a request that cannot be made', () => {
  const secret = 'canary-5d1f';
  it.each<[JsonObject, string]>([
    [{ url: 'ftp://a.example/' }, 'argument url must be an http or https URL'],
    [{ url: `nonsense ${secret}` }, 'argument url must be an http or https URL'],
    [
      { url: `http://u:${secret}@a.example/` },
      'argument url must not hold a user name or a password',
    ],
    [
      { url: 'http://a.example', method: 'TRACE' },
      'argument method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    ],
    [{}, 'argument url is missing'],
    [
      { url: 'http://a.example', body: secret },
      'a GET request has no body; use POST or leave it out',
    ],
    [
      { url: 'http://a.example', method: 'POST', body: secret, json: 1 },
      'give either body or json, not both',
    ],
    ...['Host', 'Proxy-Authorization', 'content-length', 'Transfer-Encoding', 'Connection'].map(
      (name): [JsonObject, string] => [
        { url: 'http://a.example', headers: { [name]: secret } },
        `the header ${name} cannot be set; leave it out`,
      ],
    ),
    [{ url: 'http://a.example', headers: { 'a b': secret } }, 'a header name is not one'],
    [{ url: 'http://a.example', headers: { a: '1', A: secret } }, 'the header A is given twice'],
    [
      { url: 'http://a.example', headers: { a: `1\r\nHost: ${secret}` } },
      'the header a holds characters that no header can carry',
    ],
  ])('is refused before anything is sent: %j', async (args, message) => {
    const outbound = notedOutbound();
    await expect(ask(args, outbound)).rejects.toEqual(new ToolError(`http_request: ${message}`));
    expect(outbound.passed).toEqual([]);
    expect(httpRequest().check?.(args)).toBe(`http_request: ${message}`);
  });

  it('is reported by its headers, with any values', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a', 'Host', '__proto__'),
    );
    fc.assert(
      fc.property(fc.dictionary(text, text), (headers) => {
        const args = { url: 'http://a.example', headers };
        if (httpRequest().check?.(args) !== null) return;
        expect([...new Headers(httpRequestOf(args).init.headers)].length).toBe(
          Object.keys(headers).length,
        );
      }),
    );
  });

  it('is refused with only the message of the policy', async () => {
    await expect(ask({ url: 'https://evil.example/' }, refusingOutbound())).rejects.toEqual(
      new ToolError('egress blocked: evil.example is not on the allowlist (mode=allowlist)'),
    );
  });

  it('reaches no host without egress', async () => {
    const { url, seen } = await serving(hello);
    const tool = await aBuiltin('http_request');
    const run = { taskId: 't', callId: 'c', correlationId: 'x', tags: {}, credential: null };
    const { signal } = new AbortController();
    await expect(tool.run({ url }, { ...run, signal })).rejects.toEqual(
      new ToolError('http_request: nothing can be reached from here'),
    );
    expect(seen).toEqual([]);
  });

  it('has an unknown outcome when its connection was cut, and names only the server', async () => {
    const { url } = await serving((response) => response.destroy());
    const { host } = new URL(url);
    await expect(ask({ url, method: 'POST', body: secret })).rejects.toEqual(
      new ToolError(`http_request: ${host} could not be reached (UND_ERR_SOCKET)`, {
        isUnknown: true,
      }),
    );
  });

  it('is aborted with its task', async () => {
    const stopper = new AbortController();
    const { url } = await serving(() => stopper.abort());
    await expect(ask({ url }, notedOutbound(), { signal: stopper.signal })).rejects.toEqual(
      new ToolError('http_request was stopped because its task was', { isUnknown: true }),
    );
  });
});
