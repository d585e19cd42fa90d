import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../helpers/patient.ts';
import { rawRequest } from '../../../helpers/raw-request.ts';
import { aServer } from '../egress/a-server.ts';
import { recorded, scope } from '../egress/an-egress.ts';
import { aProxy, authorizationOf } from './a-proxy.ts';

/** Sends lines to a proxy and reads until it closes. */
function ask(port: number, ...lines: string[]) {
  return rawRequest(`http://127.0.0.1:${port}`, `${lines.join('\r\n')}\r\n\r\n`);
}

/** A server that sends back what it gets; returns its port. */
async function anEcho(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

/** Opens a tunnel and returns its socket once the proxy has answered. */
async function openTunnel(port: number, authority: string, authorization: string) {
  const socket = connect(port, '127.0.0.1');
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  onTestFinished(() => void socket.destroy());
  return { socket, answer: answer.toString() };
}

describe('the egress proxy, CONNECT,', () => {
  it('passes bytes both ways to a listed host and records it with its task', async () => {
    const echo = await anEcho();
    const { proxy, authorization, records } = await aProxy({ tunnelPorts: [echo] });
    const { socket, answer } = await openTunnel(
      proxy.port,
      `API.example.test:${echo}`,
      authorization,
    );
    expect(answer).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
    socket.end('ping');
    expect(await text(socket)).toBe('ping');
    expect(records).toEqual([recorded('api.example.test', null)]);
  });

  it('forwards bytes that arrived together with the request', async () => {
    const echo = await anEcho();
    const { proxy, authorization } = await aProxy({ tunnelPorts: [echo] });
    const socket = connect(proxy.port, '127.0.0.1');
    socket.end(`CONNECT a.example.test:${echo} HTTP/1.1\r\n${authorization}\r\n\r\nearly`);
    expect(await text(socket)).toBe('HTTP/1.1 200 Connection Established\r\n\r\nearly');
  });

  it.each([
    ['evil.test:443', 'evil.test is not on the allowlist', 'evil.test'],
    ['example.test:443', 'example.test is not on the allowlist', 'example.test'],
    ['169.254.169.254:80', '169.254.169.254 is not on the allowlist', '169.254.169.254'],
    ['0x7f.1:80', '127.0.0.1 is not on the allowlist', '127.0.0.1'],
    ['[::1]:80', '::1 is not on the allowlist', '::1'],
  ])('refuses %s with the text of the contract', async (authority, why, domain) => {
    const { proxy, authorization, records, logged } = await aProxy();
    const answer = await ask(proxy.port, `CONNECT ${authority} HTTP/1.1`, authorization);
    const body = `egress blocked: ${why} (mode=allowlist)`;
    expect(answer).toEqual({
      status: 403,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'content-length': String(body.length),
        connection: 'close',
      },
      body,
    });
    expect(records).toEqual([recorded(domain, 'is not on the allowlist')]);
    expect(logged).toEqual([]);
  });

  it('refuses a listed name that resolves to a private address', async () => {
    const { proxy, authorization, records } = await aProxy({ allowedPrivateCidrs: [] });
    const answer = await ask(proxy.port, 'CONNECT a.example.test:443 HTTP/1.1', authorization);
    expect(answer.status).toBe(403);
    expect(answer.body).toMatch(/^egress blocked: a\.example\.test .*\(mode=allowlist\)$/);
    expect(records).toEqual([recorded('a.example.test', expect.any(String) as never)]);
  });

  it.each(['a.example.test', 'a.example.test:0', 'a.example.test:65536', 'u@a.example.test:443'])(
    'answers 400 to CONNECT %s',
    async (authority) => {
      const { proxy, authorization, records } = await aProxy();
      const answer = await ask(proxy.port, `CONNECT ${authority} HTTP/1.1`, authorization);
      expect(answer.status).toBe(400);
      expect(records).toEqual([]);
    },
  );

  it('answers 502 when no server listens', async () => {
    const { proxy, authorization } = await aProxy({ tunnelPorts: [1] });
    const answer = await ask(proxy.port, 'CONNECT a.example.test:1 HTTP/1.1', authorization);
    expect(answer).toMatchObject({
      status: 502,
      body: 'a.example.test could not be reached (ECONNREFUSED)',
    });
  });

  it('closes an idle tunnel', async () => {
    const echo = await anEcho();
    const { proxy, authorization } = await aProxy({
      tunnelPorts: [echo],
      proxyLimits: { idle: 100 },
    });
    const { socket } = await openTunnel(proxy.port, `a.example.test:${echo}`, authorization);
    await once(socket, 'close');
  });
});

describe('the egress proxy, plain HTTP,', () => {
  it('forwards a request without connection headers, and the answer likewise', async () => {
    const { port, seen } = await aServer((_request, response) =>
      response
        .writeHead(201, {
          'set-cookie': ['a=1', 'b=2'],
          'x-hop': 'gone',
          connection: 'keep-alive, x-hop',
          'keep-alive': 'timeout=5',
        })
        .end('made'),
    );
    const { proxy, authorization, records } = await aProxy({ propagateTo: ['*.example.test'] });
    const answer = await ask(
      proxy.port,
      `POST http://api.example.test:${port}/orders?id=1 HTTP/1.1`,
      'Host: other.example.test',
      authorization,
      'Proxy-Connection: keep-alive',
      'Connection: close, X-Private',
      'X-Private: gone',
      'X-Kept: yes',
      'Expect: 100-continue',
      'Content-Length: 4',
      '',
      'body',
    );
    const [first] = seen;
    const { method, url, body, headers } = first!;
    expect([method, url, body]).toEqual(['POST', '/orders?id=1', 'body']);
    expect(headers).toEqual({
      host: `api.example.test:${port}`,
      connection: 'keep-alive',
      'content-length': '4',
      'x-kept': 'yes',
      'x-workflow-id': 'refunds',
      'x-workflow-execution-id': 'run-7',
      'x-workflow-stage-id': 'check',
      'x-workflow-step-id': 'ask',
      'x-invocation-caller': 'orchestrator',
    });
    expect(answer.body).toContain('made');
    expect(records).toEqual([recorded('api.example.test', null)]);
  });

  it('answers with the status, every cookie and the body of the server', async () => {
    const { port } = await aServer((_request, response) =>
      response
        .writeHead(201, { 'set-cookie': ['a=1', 'b=2'], connection: 'x-hop', 'x-hop': 'g' })
        .end('made'),
    );
    const { proxy, pass } = await aProxy();
    const { username, password } = new URL(pass.env['HTTP_PROXY']!);
    const asked = request({
      host: '127.0.0.1',
      port: proxy.port,
      path: `http://a.example.test:${port}/`,
      headers: { 'Proxy-Authorization': `Basic ${btoa(`${username}:${password}`)}` },
    }).end();
    const [answer] = await once(asked, 'response');
    const { 'set-cookie': cookies, 'x-hop': hop, connection } = answer.headers;
    expect([answer.statusCode, cookies, hop, connection, await text(answer)]).toEqual([
      201,
      ['a=1', 'b=2'],
      undefined,
      'close',
      'made',
    ]);
  });

  it('returns a redirect instead of following it', async () => {
    const { port, seen } = await aServer((_request, response) =>
      response.writeHead(302, { location: 'http://evil.test/' }).end(),
    );
    const { proxy, authorization } = await aProxy();
    const answer = await ask(
      proxy.port,
      `GET http://a.example.test:${port}/ HTTP/1.1`,
      'Host: x',
      authorization,
    );
    expect([answer.status, answer.headers['location']]).toEqual([302, 'http://evil.test/']);
    expect(seen).toHaveLength(1);
  });

  it('refuses an unlisted host with the text of the contract', async () => {
    const { proxy, authorization, records } = await aProxy();
    const answer = await ask(
      proxy.port,
      'GET http://evil.test/ HTTP/1.1',
      'Host: a.example.test',
      authorization,
    );
    expect(answer.status).toBe(403);
    expect(answer.body).toBe('egress blocked: evil.test is not on the allowlist (mode=allowlist)');
    expect(records).toEqual([recorded('evil.test', 'is not on the allowlist')]);
  });

  it.each([
    ['/healthz'],
    ['https://a.example.test/'],
    ['ftp://a.example.test/'],
    ['http://user:secret@a.example.test/'],
  ])('answers 400 to GET %s', async (target) => {
    const { proxy, authorization, records } = await aProxy();
    const answer = await ask(proxy.port, `GET ${target} HTTP/1.1`, 'Host: x', authorization);
    expect(answer).toMatchObject({
      status: 400,
      body: 'this proxy accepts CONNECT host:port and requests with a full http:// address',
    });
    expect(records).toEqual([]);
  });

  it('refuses a message with an ambiguous length', async () => {
    const { port, seen } = await aServer();
    const { proxy, authorization } = await aProxy();
    const answer = await ask(
      proxy.port,
      `POST http://a.example.test:${port}/ HTTP/1.1`,
      authorization,
      'Host: x',
      'Content-Length: 4',
      'Transfer-Encoding: chunked',
      '',
      '0',
      '',
      'GET /smuggled HTTP/1.1',
    );
    expect(answer.status).toBe(400);
    expect(seen).toEqual([]);
  });

  it('answers HEAD of a compressed answer without a body', async () => {
    const { port } = await aServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('hello')),
    );
    const { proxy, authorization } = await aProxy();
    const url = `http://a.example.test:${port}/`;
    const head = await ask(proxy.port, `HEAD ${url} HTTP/1.1`, 'Host: x', authorization);
    expect([head.status, head.body]).toEqual([200, '']);
    const get = await ask(proxy.port, `GET ${url} HTTP/1.0`, 'Host: x', authorization);
    expect([get.status, get.headers['content-encoding'], get.body]).toEqual([
      200,
      undefined,
      'hello',
    ]);
  });

  it('answers 502 when no server listens and 504 when a server does not answer', async () => {
    const { port } = await aServer(() => undefined);
    const { proxy, authorization } = await aProxy({ limits: { headers: 100 } });
    const to = (target: number) =>
      ask(proxy.port, `GET http://a.example.test:${target}/ HTTP/1.1`, 'Host: x', authorization);
    expect(await to(1)).toMatchObject({
      status: 502,
      body: 'a.example.test could not be reached (ECONNREFUSED)',
    });
    expect(await to(port)).toMatchObject({ status: 504 });
  });
});

describe('the passes of the egress proxy', () => {
  const targets = ['CONNECT a.example.test:443 HTTP/1.1', 'GET http://a.example.test/ HTTP/1.1'];

  it.each(targets)('are required: %s without a valid pass gets 407', async (line) => {
    const { proxy, pass, records } = await aProxy();
    const { username } = new URL(pass.env['HTTP_PROXY']!);
    for (const credentials of [
      null,
      'Basic',
      'Bearer x',
      `Basic ${btoa(`${username}:wrong`)}`,
      `Basic ${btoa(username)}`,
      `Basic ${btoa('nobody:x')}`,
    ]) {
      const header = credentials === null ? [] : [`Proxy-Authorization: ${credentials}`];
      const { status, headers, body } = await ask(proxy.port, line, 'Host: x', ...header);
      expect([status, headers['proxy-authenticate'], body]).toEqual([
        407,
        'Basic realm="holdpoint"',
        'this proxy needs the pass of a running tool',
      ]);
    }
    expect(records).toEqual([]);
  });

  it.each(targets)('expire: %s with a released pass gets 407', async (line) => {
    const { proxy, pass, authorization, records } = await aProxy();
    pass.release();
    const { status } = await ask(proxy.port, line, 'Host: x', authorization);
    expect(status).toBe(407);
    expect(records).toEqual([]);
  });

  it('close their own connections when they are released, and no others', async () => {
    const echo = await anEcho();
    const { proxy, pass, authorization } = await aProxy({ tunnelPorts: [echo] });
    const other = authorizationOf(proxy.admit({ ...scope, taskId: 't2' }));
    const mine = await openTunnel(proxy.port, `a.example.test:${echo}`, authorization);
    const theirs = await openTunnel(proxy.port, `a.example.test:${echo}`, other);
    const closed = once(mine.socket, 'close');
    pass.release();
    await closed;
    theirs.socket.end('still here');
    expect(await text(theirs.socket)).toBe('still here');
  });

  it('have a limit of connections', async () => {
    const echo = await anEcho();
    const { proxy, authorization } = await aProxy({
      tunnelPorts: [echo],
      proxyLimits: { connections: 2 },
    });
    const authority = `a.example.test:${echo}`;
    const first = await openTunnel(proxy.port, authority, authorization);
    const second = await openTunnel(proxy.port, authority, authorization);
    const third = await openTunnel(proxy.port, authority, authorization);
    expect([first, second, third].map(({ answer }) => answer.slice(0, 12))).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 503',
    ]);
    first.socket.destroy();
    await vi.waitFor(async () => {
      const next = await openTunnel(proxy.port, authority, authorization);
      expect(next.answer).toContain(' 200 ');
    }, patient);
  });

  it('log nothing when a client disconnects before the answer', async () => {
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { port } = await aServer((_request, response) => {
      response.on('close', left.resolve);
      arrived.resolve();
    });
    const { proxy, authorization, logged } = await aProxy();
    const client = connect(proxy.port, '127.0.0.1');
    client.write(`GET http://a.example.test:${port}/ HTTP/1.1\r\n${authorization}\r\n\r\n`);
    await arrived.promise;
    client.destroy();
    await left.promise;
    expect(logged).toEqual([]);
  });

  it('log nothing when a pass is released while its tunnel opens', async () => {
    const asked = Promise.withResolvers<void>();
    const { proxy, pass, authorization, logged } = await aProxy({
      lookup: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
      limits: { lookup: 200 },
    });
    const client = connect(proxy.port, '127.0.0.1');
    client.write(`CONNECT a.example.test:443 HTTP/1.1\r\n${authorization}\r\n\r\n`);
    await asked.promise;
    pass.release();
    client.resume();
    await once(client, 'close');
    expect(logged).toEqual([]);
  });

  it('serve one request of a connection, and ignore the rest', async () => {
    const { port, seen } = await aServer();
    const { proxy, authorization, records } = await aProxy();
    const lines = (path: string) => [
      `GET http://a.example.test:${port}/${path} HTTP/1.1`,
      authorization,
      '',
    ];
    const all = Array.from({ length: 20 }, (_, index) => lines(String(index))).flat();
    const { status, body } = await ask(proxy.port, ...all.slice(0, -1));
    expect([status, body]).toEqual([200, 'hello']);
    expect(seen.map(({ url }) => url)).toEqual(['/0']);
    expect(records).toEqual([recorded('a.example.test', null)]);
  });

  it('name the proxy in every variable that programs read', async () => {
    const { proxy, pass } = await aProxy();
    const url = expect.stringMatching(
      `^http://[\\w-]{16}:[\\w-]{32}@127\\.0\\.0\\.1:${proxy.port}$`,
    );
    expect(pass.env).toEqual({
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      ALL_PROXY: url,
      http_proxy: url,
      https_proxy: url,
      all_proxy: url,
      NO_PROXY: '',
      no_proxy: '',
      NODE_USE_ENV_PROXY: '1',
    });
    expect(new Set(Object.values(pass.env)).size).toBe(3);
  });

  it('reveal no password in an answer or in the log, after any failure', async () => {
    const { proxy, pass, authorization, logged } = await aProxy();
    const answers = [
      await ask(proxy.port, 'CONNECT evil.test:443 HTTP/1.1', authorization),
      await ask(proxy.port, 'CONNECT a.example.test:1 HTTP/1.1', authorization),
      await ask(proxy.port, 'GET http://a.example.test:1/ HTTP/1.1', 'Host: x', authorization),
      await ask(proxy.port, 'TRACE http://a.example.test:1/ HTTP/1.1', 'Host: x', authorization),
      await ask(proxy.port, 'GET / HTTP/1.1', 'Host: x', `${authorization}x`),
    ];
    const said = JSON.stringify([answers, logged]);
    expect(pass.secretValues.filter((secret) => said.includes(secret))).toEqual([]);
  });

  it('list what the policy refused, each once', async () => {
    const { proxy, pass, authorization } = await aProxy();
    for (const line of ['CONNECT evil.test:443', 'GET http://evil.test/', 'CONNECT b.test:443']) {
      await ask(proxy.port, `${line} HTTP/1.1`, 'Host: x', authorization);
    }
    expect(pass.refusals()).toEqual([
      'egress blocked: evil.test is not on the allowlist (mode=allowlist)',
      'egress blocked: b.test is not on the allowlist (mode=allowlist)',
    ]);
  });

  it('time out without headers', async () => {
    const { proxy } = await aProxy({ proxyLimits: { headers: 100 } });
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write('CONNECT a.example.test:443 HTTP/1.1\r\nX-Slow: ');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('refuse headers longer than 16 KiB', async () => {
    const { proxy } = await aProxy();
    const long = `X-Long: ${'x'.repeat(17 * 1024)}`;
    const { status } = await ask(proxy.port, 'CONNECT a.example.test:443 HTTP/1.1', long);
    expect(status).toBe(431);
  });

  it('work the same over the UNIX socket, and leave no file', async () => {
    const { proxy, authorization } = await aProxy();
    const socket = connect(proxy.socketPath);
    socket.write(`CONNECT evil.test:443 HTTP/1.1\r\n${authorization}\r\n\r\n`);
    expect(await text(socket)).toContain('egress blocked: evil.test is not on the allowlist');
    const waiting = connect(proxy.port, '127.0.0.1');
    await once(waiting, 'connect');
    await Promise.all([once(waiting, 'close'), proxy.close()]);
    expect(existsSync(proxy.socketPath)).toBe(false);
  });
});
