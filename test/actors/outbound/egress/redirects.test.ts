import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { interceptors, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';
import { aServer, type SeenRequest } from './a-server.ts';
import { anEgress, failureOf, recorded, scope } from './an-egress.ts';
import { certificate } from './loopback-certificate.ts';

/** A server whose `/to?<url>` redirects there with the status of the path, and which shows the rest. */
async function aRedirector(): Promise<{ port: number; seen: SeenRequest[] }> {
  return aServer(({ method, url, body }, response) => {
    const found = /^\/(30\d)\?(.*)$/.exec(url);
    if (found === null) response.end(JSON.stringify({ method, url, body }));
    else
      response
        .writeHead(Number(found[1]), { location: decodeURIComponent(found[2] ?? '') })
        .end('moved');
  });
}

/** A server with TLS for `*.example.test`, trusted until the test has finished. */
async function aSecureServer(location: string): Promise<number> {
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, certificate.cert]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  const server = createServer(certificate, (_request, response) => {
    response.writeHead(302, { location }).end();
  });
  return Number(new URL(await listenOnLoopback(server)).port);
}

const text = { 'content-type': 'text/plain' };

describe('a redirect', () => {
  it('to a listed host is followed, and each hop recorded', async () => {
    const { port } = await aRedirector();
    const { egress, records } = anEgress();
    const response = await egress.within(scope, () =>
      egress.fetch(`http://a.example.test:${port}/302?http://b.example.test:${port}/end`),
    );
    expect(await response.json()).toEqual({ method: 'GET', url: '/end', body: '' });
    expect([response.url, response.redirected]).toEqual([
      `http://b.example.test:${port}/end`,
      true,
    ]);
    expect(records).toEqual([recorded('a.example.test', null), recorded('b.example.test', null)]);
  });

  it.each([
    ['http://elsewhere.test/', 'elsewhere.test', 'is not on the allowlist'],
    ['//elsewhere.test/', 'elsewhere.test', 'is not on the allowlist'],
    ['http://169.254.169.254/latest', '169.254.169.254', 'is not on the allowlist'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1', 'is not on the allowlist'],
    ['http://private.example.test/', 'private.example.test', 'resolves to a private address'],
    ['http://u:p@b.example.test/', 'b.example.test', 'has a user name in its URL'],
    ['ftp://b.example.test/', 'b.example.test', 'uses neither http nor https'],
  ])('to %s is refused', async (location, host, why) => {
    const { port, seen } = await aRedirector();
    const { egress, records } = anEgress({ names: { 'private.example.test': ['10.0.0.1'] } });
    const failure = await failureOf(
      egress.within(scope, () =>
        egress.fetch(`http://a.example.test:${port}/302?${encodeURIComponent(location)}`),
      ),
    );
    expect(failure).toMatchObject({
      code: 'egress_blocked',
      message: `egress blocked: ${host} ${why} (mode=allowlist)`,
    });
    expect(records).toEqual([recorded('a.example.test', null), recorded(host, why)]);
    expect(seen.length).toBe(1);
  });

  it.each([
    ['to http is refused', []],
    // The second server was asked, as its own redirect is what is refused.
    ['to https is followed', [recorded('b.example.test', null)]],
  ])('from https %s', async (_, followed) => {
    let location = 'http://b.example.test/';
    for (const { domain } of followed) {
      location = `https://${domain}:${await aSecureServer(location)}/`;
    }
    const secure = await aSecureServer(location);
    const { egress, records } = anEgress();
    const failure = await failureOf(
      egress.within(scope, () => egress.fetch(`https://files.example.test:${secure}/`)),
    );
    expect(failure).toMatchObject({
      message: 'egress blocked: b.example.test is a redirect from https to http (mode=allowlist)',
    });
    expect(records).toEqual([
      recorded('files.example.test', null),
      ...followed,
      recorded('b.example.test', 'is a redirect from https to http'),
    ]);
  });

  it.each(['http://[', 'http://a b/', 'https://'])(
    'to %j, which is not a URL, fails',
    async (to) => {
      const { port, seen } = await aRedirector();
      const { egress } = anEgress();
      const url = `http://a.example.test:${port}/302?${encodeURIComponent(to)}`;
      expect(await failureOf(egress.fetch(url))).toEqual(
        new TypeError('fetch failed: the answer redirects to no URL'),
      );
      expect(seen.length).toBe(1);
    },
  );

  it.each([
    [200, '/end'],
    [201, '/end'],
    [300, '/end'],
    [302, null],
    [307, null],
  ])('is not the answer %i with the location %s', async (status, location) => {
    const { port, seen } = await aServer((_request, response) => {
      response.writeHead(status, location === null ? {} : { location }).end('here');
    });
    const { egress } = anEgress();
    const response = await egress.fetch(`http://a.example.test:${port}/`);
    expect([response.status, response.redirected, await response.text()]).toEqual([
      status,
      false,
      'here',
    ]);
    expect(seen.length).toBe(1);
  });

  it('accepts a Request as the options of another', async () => {
    const { port, seen } = await aRedirector();
    const { egress } = anEgress();
    const url = `http://a.example.test:${port}/302?/end`;
    const init = { method: 'POST', body: 'pay', headers: text, redirect: 'manual' } as const;
    const options = new Request('http://elsewhere.test/', init);
    const { status } = await egress.fetch(url, options as RequestInit);
    expect(status).toBe(302);
    expect(
      seen.map(({ method, body, headers }) => [method, body, headers['content-type']]),
    ).toEqual([['POST', 'pay', 'text/plain']]);
  });

  it.each(['GET', 'HEAD'])('leaves a %s after 303 all its headers', async (method) => {
    const { port, seen } = await aRedirector();
    const { egress } = anEgress();
    await egress.fetch(`http://a.example.test:${port}/303?/end`, { method, headers: text });
    expect(seen.map((one) => [one.method, one.headers['content-type']])).toEqual([
      [method, 'text/plain'],
      [method, 'text/plain'],
    ]);
  });

  it('never keeps the name of a certificate', async () => {
    const secure = await aSecureServer('/');
    const { egress } = anEgress({ allowedDomains: ['files.wrong.test'] });
    expect(await failureOf(egress.fetch(`https://files.wrong.test:${secure}/`))).toMatchObject({
      cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
  });

  it.each([5, 6, 20])('followed %i times stops at five', async (count) => {
    const { port, seen } = await aServer(({ url }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end('end');
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    const { egress, records } = anEgress();
    const answer = egress.within(scope, () =>
      egress.fetch(`http://a.example.test:${port}/${count}`),
    );
    if (count === 5) {
      expect(await (await answer).text()).toBe('end');
    } else {
      expect(await failureOf(answer)).toMatchObject({
        message: 'egress blocked: a.example.test is behind more than 5 redirects (mode=allowlist)',
      });
      expect(records.at(-1)).toEqual(recorded('a.example.test', 'is behind more than 5 redirects'));
    }
    expect(seen.length).toBe(6);
  });

  it('to itself stops', async () => {
    const { port, seen } = await aServer((_request, response) => {
      response.writeHead(302, { location: '/' }).end();
    });
    const { egress } = anEgress();
    expect(await failureOf(egress.fetch(`http://a.example.test:${port}/`))).toMatchObject({
      message: expect.stringContaining('is behind more than 5 redirects'),
    });
    expect(seen.length).toBe(6);
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [302, 'PUT', 'PUT', 'pay'],
    [307, 'POST', 'POST', 'pay'],
    [308, 'POST', 'POST', 'pay'],
  ])('%i turns a %s into a %s', async (status, method, after, body) => {
    const { port, seen } = await aRedirector();
    const { egress } = anEgress();
    const response = await egress.fetch(`http://a.example.test:${port}/${status}?/end`, {
      method,
      body: 'pay',
      headers: { ...text, 'X-Api-Key': 'k' },
    });
    expect(await response.json()).toEqual({ method: after, url: '/end', body });
    const { 'content-type': type, 'x-api-key': key } = seen[1]?.headers ?? {};
    expect({ type, key }).toEqual({ type: body === '' ? undefined : 'text/plain', key: 'k' });
  });

  it('keeps a HEAD after 303', async () => {
    const { port, seen } = await aRedirector();
    const { egress } = anEgress();
    await egress.fetch(`http://a.example.test:${port}/303?/end`, { method: 'HEAD' });
    expect(seen.map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
  });

  it('does not read its own body, however long', async () => {
    const closed = Promise.withResolvers<void>();
    const { port } = await aServer(({ url }, response) => {
      if (url === '/end') return void response.end('end');
      response.on('close', closed.resolve);
      return void response.writeHead(302, { location: '/end' }).write('moved');
    });
    const { egress } = anEgress();
    const response = await egress.fetch(`http://a.example.test:${port}/`);
    expect(await response.text()).toBe('end');
    await closed.promise;
  });

  it.each(['init', 'request'])(
    "with the caller's signal in the %s is aborted while the next host hangs",
    async (kind) => {
      const asked = Promise.withResolvers<void>();
      const left = Promise.withResolvers<void>();
      const { port } = await aServer(({ url }, response) => {
        if (url !== '/end') return void response.writeHead(302, { location: '/end' }).end();
        response.on('close', left.resolve);
        return asked.resolve();
      });
      const { egress } = anEgress();
      const url = `http://a.example.test:${port}/`;
      const stop = new AbortController();
      const { signal } = stop;
      const failure = failureOf(
        kind === 'init'
          ? egress.fetch(url, { signal })
          : egress.fetch(new Request(url, { signal })),
      );
      await asked.promise;
      stop.abort();
      expect(await failure).toMatchObject({ name: 'AbortError' });
      await left.promise;
    },
  );

  it.each(['stream', 'request'])('cannot send a %s again', async (kind) => {
    const { port } = await aRedirector();
    const { egress } = anEgress();
    const url = `http://a.example.test:${port}/307?/end`;
    const answer =
      kind === 'stream'
        ? egress.fetch(url, { method: 'POST', body: new Blob(['pay']).stream(), duplex: 'half' })
        : egress.fetch(new Request(url, { method: 'POST', body: 'pay' }));
    expect(await failureOf(answer)).toEqual(
      new TypeError('fetch failed: a stream cannot be sent again'),
    );
  });

  it('is the answer in the manual mode, and an error in the error mode', async () => {
    const { port, seen } = await aRedirector();
    const { egress } = anEgress();
    const url = `http://a.example.test:${port}/302?http://elsewhere.test/`;
    const manual = await egress.fetch(new Request(url, { redirect: 'manual' }));
    expect([manual.status, manual.headers.get('location'), await manual.text()]).toEqual([
      302,
      'http://elsewhere.test/',
      'moved',
    ]);
    const failure = await failureOf(egress.fetch(url, { redirect: 'error' }));
    expect(failure).toEqual(new TypeError('fetch failed: the answer is a redirect'));
    expect(seen.length).toBe(2);
  });

  it('is judged on each hop that another client follows', async () => {
    const { port, seen } = await aRedirector();
    const { egress, records } = anEgress();
    const dispatcher = egress.dispatcher.compose(interceptors.redirect({ maxRedirections: 3 }));
    const url = `http://a.example.test:${port}/302?http://elsewhere.test/`;
    expect(await failureOf(request(url, { dispatcher }))).toMatchObject({ code: 'egress_blocked' });
    expect(records.map(({ domain, reason }) => [domain, reason])).toEqual([
      ['a.example.test', null],
      ['elsewhere.test', 'is not on the allowlist'],
    ]);
    expect(seen.length).toBe(1);
  });

  it('sends another origin only safelisted headers', async () => {
    const { port, seen } = await aRedirector();
    const { egress } = anEgress();
    const headers = {
      Accept: 'application/json',
      'Accept-Language': 'en',
      Authorization: 'Bearer canary',
      Cookie: 'canary=1',
      'Content-Type': 'text/plain',
      'Proxy-Authorization': 'canary',
      'User-Agent': 'refunds',
      'X-Api-Key': 'canary',
      'X-Workflow-ID': 'canary',
    };
    const first = `http://a.example.test:${port}`;
    const last = `http://b.example.test:${port}`;
    const back = encodeURIComponent(`${first}/end`);
    const path = encodeURIComponent(`${last}/307?${back}`);
    const given = { ...headers };
    const response = await egress.within(scope, () =>
      egress.fetch(`${first}/307?/307%3F${encodeURIComponent(path)}`, {
        method: 'POST',
        headers: given,
        body: 'pay',
      }),
    );
    expect(await response.json()).toEqual({ method: 'POST', url: '/end', body: 'pay' });
    expect(given).toEqual(headers);
    const lower = Object.keys(headers).map((name) => name.toLowerCase());
    const told = seen.map(({ headers: got }) => [
      got.host?.split(':')[0],
      lower.filter((name) => name in got && got[name] !== undefined).sort(),
    ]);
    const safe = ['accept', 'accept-language', 'content-type', 'user-agent'];
    expect(told).toEqual([
      ['a.example.test', lower.toSorted()],
      ['a.example.test', lower.toSorted()],
      ['b.example.test', safe],
      ['a.example.test', safe],
    ]);
    expect(JSON.stringify(seen.slice(2))).not.toContain('canary');
    const values = seen.slice(2).map(({ headers: got }) => safe.map((name) => got[name]));
    const kept = ['application/json', 'en', 'text/plain', 'refunds'];
    expect(values).toEqual([kept, kept]);
  });
});
