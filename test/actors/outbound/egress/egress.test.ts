import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { createEgress, EgressError } from '../../../../src/actors/outbound/egress/egress.ts';
import type { EgressMode, EgressScope } from '../../../../src/actors/ports/egress.ts';
import { aServer } from './a-server.ts';
import { anEgress, failureOf, recorded, scope } from './an-egress.ts';

const daemon: EgressScope = { taskId: null, correlationId: null, tags: {} };

/** What `anEgress` lists. */
const listedExample = {
  host: '*.example.test',
  port: null,
  source: 'egress.allowed_domains.0',
  openTo: 'everybody',
};

describe('egress', () => {
  it('permits a listed host and records it with its task', async () => {
    const { port, seen } = await aServer();
    const { egress, records } = anEgress();
    const response = await egress.within(scope, () =>
      egress.fetch(`http://API.example.test:${port}/path?q=1`),
    );
    expect({ status: response.status, text: await response.text() }).toEqual({
      status: 200,
      text: 'hello',
    });
    expect(response).toBeInstanceOf(Response);
    expect(seen.map(({ url, headers }) => [url, headers.host])).toEqual([
      ['/path?q=1', `api.example.test:${port}`],
    ]);
    expect(records).toEqual([recorded('api.example.test', null)]);
  });

  it('serves a plain undici request the same way', async () => {
    const { port } = await aServer();
    const { egress, records } = anEgress();
    const { body } = await egress.within(scope, () =>
      request(`http://api.example.test:${port}/`, { dispatcher: egress.dispatcher }),
    );
    expect(await body.text()).toBe('hello');
    const refused = egress.within(scope, () =>
      request('http://elsewhere.test/', { dispatcher: egress.dispatcher }),
    );
    expect(await failureOf(refused)).toBeInstanceOf(EgressError);
    expect(records).toEqual([
      recorded('api.example.test', null),
      recorded('elsewhere.test', 'is not on the allowlist'),
    ]);
  });

  it('refuses an unlisted host, with the text of the contract', async () => {
    const { egress, records, asked } = anEgress();
    const failure = await failureOf(
      egress.within(scope, () => egress.fetch('https://example.test/')),
    );
    expect(failure).toMatchObject({
      name: 'Error',
      code: 'egress_blocked',
      message: 'egress blocked: example.test is not on the allowlist (mode=allowlist)',
    });
    expect(records).toEqual([recorded('example.test', 'is not on the allowlist')]);
    expect(asked).toEqual([]);
  });

  it.each<[EgressMode, EgressScope | null, string, boolean]>([
    ['allowlist', scope, 'api.example.test', true],
    ['allowlist', scope, 'issuer.test', false],
    ['allowlist', { ...scope, isOwn: true }, 'issuer.test', true],
    ['allowlist', daemon, 'issuer.test', true],
    ['allowlist', null, 'elsewhere.test', false],
    ['deny-all', null, 'issuer.test', true],
    ['deny-all', daemon, 'issuer.test', true],
    ['deny-all', scope, 'issuer.test', false],
    ['deny-all', null, 'api.example.test', false],
    ['dev-open', scope, 'elsewhere.test', true],
  ])('in mode %s for %o judges %s: %s', (mode, on, hostname, allowed) => {
    const endpoints = [{ host: 'issuer.test', port: 443, source: 'auth.providers.0' }];
    const { egress, records } = anEgress({ mode, endpoints });
    const judge = () => egress.checkHop({ protocol: 'https:', hostname, port: 443 }, on);
    if (allowed) {
      judge();
      expect(records).toEqual([]);
    } else {
      expect(judge).toThrow(`egress blocked: ${hostname} is not on the allowlist (mode=${mode})`);
      const reason = 'is not on the allowlist';
      expect(records).toEqual([{ scope: on, domain: hostname, mode, reason }]);
    }
  });

  it('permits a private host from a setting, only at that port', async () => {
    const named = await aServer();
    const other = await aServer();
    const endpoints = [{ host: 'Issuer.test.', port: named.port, source: 'auth.providers.0' }];
    const { egress, records } = anEgress({
      endpoints,
      allowedDomains: ['*.issuer.test', 'both.test'],
      allowedPrivateCidrs: [],
    });
    const response = await egress.fetch(`http://issuer.test:${named.port}/`);
    expect(await response.text()).toBe('hello');
    expect(await failureOf(egress.fetch(`http://issuer.test:${other.port}/`))).toMatchObject({
      message: 'egress blocked: issuer.test is not on the allowlist (mode=allowlist)',
    });
    expect(await failureOf(egress.fetch(`http://both.test:${named.port}/`))).toMatchObject({
      message: 'egress blocked: both.test resolves to a loopback address (mode=allowlist)',
    });
    expect(records.map(({ domain, reason }) => [domain, reason])).toEqual([
      ['issuer.test', null],
      ['issuer.test', 'is not on the allowlist'],
      ['both.test', 'resolves to a loopback address'],
    ]);
    expect(other.seen).toEqual([]);
  });

  it('lists a host that a skill declares without permitting it to be private', async () => {
    const { port, seen } = await aServer();
    const endpoints = [{ host: 'skill.test', port, source: 'skills.pay', skill: 'pay' }];
    const { egress } = anEgress({ endpoints, allowedPrivateCidrs: [] });
    const asked = egress.within({ ...scope, skill: 'pay' }, () =>
      egress.fetch(`http://skill.test:${port}/`),
    );
    expect(await failureOf(asked)).toMatchObject({
      message: 'egress blocked: skill.test resolves to a loopback address (mode=allowlist)',
    });
    expect(seen).toEqual([]);
  });

  it('permits private hosts of egress.allowed_private, only at their port', async () => {
    const { port } = await aServer();
    const { port: other, seen } = await aServer();
    const { egress } = anEgress({
      allowedPrivate: [`db.internal:${port}`],
      allowedPrivateCidrs: [],
      allowedDomains: ['db.internal'],
    });
    const ask = (at: number) =>
      egress.within(scope, () => egress.fetch(`http://db.internal:${at}/`));
    expect(await (await ask(port)).text()).toBe('hello');
    expect(await failureOf(ask(other))).toMatchObject({
      message: 'egress blocked: db.internal resolves to a loopback address (mode=allowlist)',
    });
    expect(seen).toEqual([]);
  });

  it('separates connections of the daemon from those of tasks', async () => {
    const { port, seen } = await aServer();
    // A task may ask for the name, and for the address that the daemon finds behind it it may not.
    const { egress } = anEgress({
      allowedPrivateCidrs: [],
      endpoints: [{ host: 'sink.example.test', port, source: 'audit.sinks.0' }],
    });
    const ask = () => egress.fetch(`http://sink.example.test:${port}/`);
    const own = { ...scope, isOwn: true };
    for (const on of [daemon, own, daemon, own]) {
      expect(await (await egress.within(on, ask)).text()).toBe('hello');
    }
    // Some connection is kept, or the task could not be found on it.
    expect(new Set(seen.map(({ from }) => from)).size).toBeLessThan(4);
    expect(await failureOf(egress.within(scope, ask))).toMatchObject({
      message: 'egress blocked: sink.example.test resolves to a loopback address (mode=allowlist)',
    });
    expect(seen).toHaveLength(4);
  });

  it('lists the permitted hosts, with their users and sources', () => {
    const endpoints = [
      { host: 'ISSUER.test', port: 8443, source: 'auth.providers.0' },
      { host: '*.maps.test', port: 443, source: 'skills.maps', skill: 'maps' },
    ];
    const { egress } = anEgress({
      allowedDomains: ['API.example.com:8443', '*.Bücher.de'],
      allowedPrivate: ['[::1]:9000'],
      endpoints,
    });
    const openTo = 'everybody';
    expect(egress.hosts).toEqual([
      { host: 'api.example.com', port: 8443, source: 'egress.allowed_domains.0', openTo },
      { host: '*.xn--bcher-kva.de', port: null, source: 'egress.allowed_domains.1', openTo },
      { host: '::1', port: 9000, source: 'egress.allowed_private.0', openTo },
      { host: '*.maps.test', port: 443, source: 'skills.maps', openTo: 'skill' },
      { host: 'issuer.test', port: 8443, source: 'auth.providers.0', openTo: 'daemon' },
    ]);
  });

  it.each([
    [
      { allowedDomains: ['ok.test', 'https://x.test/'] },
      'egress.allowed_domains.1: "https://x.test/": this is not a host but a URL or a path; write the host alone: x.test',
    ],
    [
      { propagateTo: ['a.example.test:1'] },
      'workflow_propagation.allowed_hosts.0: "a.example.test:1": a host is listed here without its port; remove the port',
    ],
    [{ allowedDomains: ['-x.com'] }, 'egress.allowed_domains.0: "-x.com": this is not a host'],
    [{ allowedDomains: ['b,c.com'] }, 'egress.allowed_domains.0: "b,c.com": this is not a host'],
    [{ allowedDomains: ['x.com:0'] }, 'egress.allowed_domains.0: "x.com:0": the port must be'],
    [{ propagateTo: ['*'] }, 'workflow_propagation.allowed_hosts.0: "*": a * alone is no pattern'],
    [
      { allowedPrivateCidrs: ['10.1.0.1/16'] },
      '"10.1.0.1/16" has bits set beyond its prefix; write 10.1.0.0/16',
    ],
    [{ endpoints: [{ host: 'a b', port: 1, source: 'model' }] }, 'model: "a b" is no host'],
  ])('cannot be created from %o', (options, message) => {
    expect(() => anEgress(options)).toThrow(message);
  });

  it('fails as its record does when no server listens either', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const failure = new Error('the disk is full');
    const { egress } = anEgress({
      record: () => {
        throw failure;
      },
    });
    const url = `http://api.example.test:${port}/`;
    expect(await failureOf(egress.fetch(url))).toMatchObject({ cause: failure });
  });

  it('sends nothing when a request cannot be recorded', async () => {
    const { port, seen } = await aServer();
    const record = () => {
      throw new Error('the audit log is full');
    };
    const { egress } = anEgress({ record });
    const failure = await failureOf(egress.fetch(`http://api.example.test:${port}/`));
    expect(failure).toMatchObject({ cause: { message: 'the audit log is full' } });
    expect(await failureOf(egress.fetch('http://elsewhere.test/'))).toMatchObject({
      cause: { message: 'the audit log is full' },
    });
    expect(seen).toEqual([]);
  });

  it('knows the task of a request across asynchronous steps', async () => {
    const { egress } = anEgress();
    const inside = await egress.within(scope, async () => {
      await Promise.resolve();
      return egress.scope();
    });
    expect([inside, egress.scope()]).toEqual([scope, null]);
  });

  it.each(['ftp://api.example.test/', 'data:text/plain,hello', 'file:///etc/passwd'])(
    'refuses %s',
    async (url) => {
      const { egress } = anEgress();
      expect(await failureOf(egress.fetch(url))).toMatchObject({
        message: expect.stringContaining('uses neither http nor https'),
      });
    },
  );

  it('refuses a name and password in the URL without repeating them', async () => {
    const { egress, records } = anEgress();
    const failure = await failureOf(
      egress.within(scope, () => egress.fetch('http://ops:canary-5@api.example.test/')),
    );
    expect(failure).toMatchObject({
      message: 'egress blocked: api.example.test has a user name in its URL (mode=allowlist)',
    });
    const { dispatcher } = egress;
    const origin = 'http://ops:canary-5@api.example.test';
    const direct = egress.within(scope, () =>
      dispatcher.request({ origin, path: '/', method: 'GET' }),
    );
    expect(await failureOf(direct)).toEqual(failure);
    const refused = recorded('api.example.test', 'has a user name in its URL');
    expect(records).toEqual([refused, refused]);
  });

  it('refuses a task that sends the Host header of another server', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress();
    const url = `http://api.example.test:${port}/`;
    const { dispatcher } = egress;
    const fronted = egress.within(scope, () =>
      request(url, { dispatcher, headers: { Host: 'elsewhere.test' } }),
    );
    expect(await failureOf(fronted)).toMatchObject({
      message:
        'egress blocked: api.example.test has the Host header of another host (mode=allowlist)',
    });
    const own = await request(url, { dispatcher, headers: ['host', `API.example.test:${port}`] });
    expect(await own.body.text()).toBe('hello');
    expect(seen.length).toBe(1);
  });

  it('lets the daemon send the Host that a request was signed with', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress();
    const answer = await request(`http://api.example.test:${port}/`, {
      dispatcher: egress.dispatcher,
      headers: { Host: 'sts.eu-west-1.amazonaws.com' },
    });
    await answer.body.dump();
    expect(seen.map(({ headers }) => headers.host)).toEqual(['sts.eu-west-1.amazonaws.com']);
  });

  it('under deny-all permits the endpoints of the daemon, also during a task, and nothing to tools', async () => {
    const { port } = await aServer();
    const { egress, records } = anEgress({
      mode: 'deny-all',
      endpoints: [{ host: 'model.example.test', port, source: 'model' }],
    });
    const url = `http://model.example.test:${port}/`;
    const ask = async () => (await egress.fetch(url)).status;
    const own = { ...scope, isOwn: true };
    expect([await ask(), await egress.within(own, ask)]).toEqual([200, 200]);
    expect(await failureOf(egress.within(scope, ask))).toMatchObject({
      message: 'egress blocked: model.example.test is not on the allowlist (mode=deny-all)',
    });
    expect(records.map(({ scope: on, reason }) => [on, reason])).toEqual([
      [null, null],
      [own, null],
      [scope, 'is not on the allowlist'],
    ]);
  });

  it('lists a host that an issuer named, which must be public', async () => {
    const { port } = await aServer();
    const { egress } = anEgress({ allowedPrivateCidrs: [] });
    const url = `http://keys.issuer.test:${port}/`;
    expect(await failureOf(egress.fetch(url))).toMatchObject({
      message: 'egress blocked: keys.issuer.test is not on the allowlist (mode=allowlist)',
    });
    const source = 'auth.providers.0 (discovered)';
    egress.discovered({ host: 'keys.issuer.test', port, source });
    expect(await failureOf(egress.fetch(url))).toMatchObject({
      message: 'egress blocked: keys.issuer.test resolves to a loopback address (mode=allowlist)',
    });
    expect(egress.hosts).toEqual([
      listedExample,
      { host: 'keys.issuer.test', port, source, openTo: 'daemon' },
    ]);
  });

  it('accepts no wildcard from an issuer', async () => {
    const { egress } = anEgress();
    const endpoint = { host: '*.test', port: 443, source: 'auth.providers.0 (discovered)' };
    expect(() => egress.discovered(endpoint)).toThrow(
      'auth.providers.0 (discovered): "*.test" is no host',
    );
    expect(egress.hosts).toEqual([listedExample]);
  });

  it('keeps the rights of an endpoint that a less trusted source names again', async () => {
    const { port } = await aServer();
    const { egress } = anEgress({
      allowedPrivateCidrs: [],
      endpoints: [{ host: 'issuer.test', port, source: 'auth.providers.0' }],
    });
    egress.discovered({ host: 'issuer.test', port, source: 'auth.providers.1 (discovered)' });
    expect((await egress.fetch(`http://issuer.test:${port}/`)).status).toBe(200);
  });

  it('reads the wildcard of a skill as a pattern, at its port only', async () => {
    const { port } = await aServer();
    const endpoint = { host: '*.partner.test', port, source: 'skills.x', skill: 'x' };
    const { egress } = anEgress({ endpoints: [endpoint] });
    const ask = (url: string, on: EgressScope) => egress.within(on, () => egress.fetch(url));
    const url = `http://api.partner.test:${port}/`;
    expect((await ask(url, { ...scope, skill: 'x' })).status).toBe(200);
    for (const other of [`http://partner.test:${port}/`, 'http://api.partner.test:81/']) {
      expect(await failureOf(ask(other, { ...scope, skill: 'x' }))).toMatchObject({
        code: 'egress_blocked',
      });
    }
    for (const on of [scope, { ...scope, skill: 'y' }, { ...scope, isOwn: true }]) {
      expect(await failureOf(ask(url, on))).toMatchObject({ code: 'egress_blocked' });
    }
  });

  it.each([
    ['http://ops@[0:0:0:0:0:0:0:1]/', '::1'],
    ['http://ops@Api.example.test./', 'api.example.test'],
    ['http://ops@0x7f.1/', '127.0.0.1'],
  ])('records %s as %s', async (url, domain) => {
    const { egress, records } = anEgress();
    const why = 'has a user name in its URL';
    const failure = await failureOf(egress.within(scope, () => egress.fetch(url)));
    expect(failure).toEqual(new EgressError({ host: domain, why, mode: 'allowlist' }));
    expect(records).toEqual([recorded(domain, why)]);
  });

  it.each([
    ['http://api.example.test/', null],
    ['http://unknown.example.test/', null],
    ['http://elsewhere.test/', 'elsewhere.test is not on the allowlist'],
    ['http://ops@api.example.test/', 'api.example.test has a user name in its URL'],
    ['http://private.example.test/', 'private.example.test resolves to a private address'],
  ])('predicts for %s, without a record, the reason of a refusal: %s', async (url, why) => {
    const { egress, records } = anEgress({
      lookup: async (hostname) => {
        if (hostname === 'unknown.example.test') throw new Error('not found');
        return [{ address: hostname.startsWith('private') ? '10.0.0.1' : '127.0.0.1', family: 4 }];
      },
    });
    expect(await egress.refusalOf(new URL(url), scope)).toBe(
      why === null ? null : `egress blocked: ${why} (mode=allowlist)`,
    );
    expect(records).toEqual([]);
  });

  it.each([
    ['the daemon', null],
    ['tasks', scope],
  ])('aborts a wait for %s when it is closed, and sends nothing more', async (_, on) => {
    const arrived = Promise.withResolvers<void>();
    const { port, seen } = await aServer(() => arrived.resolve());
    const { egress } = anEgress();
    const ask = () => {
      const send = () => egress.fetch(`http://api.example.test:${port}/`);
      return failureOf(on === null ? send() : egress.within(on, send));
    };
    const held = ask();
    await arrived.promise;
    await egress.close();
    expect([await held, await ask()]).toMatchObject([
      { cause: { code: 'UND_ERR_DESTROYED' } },
      { cause: { code: 'UND_ERR_DESTROYED' } },
    ]);
    expect(seen.length).toBe(1);
  });

  it('obeys the signal of its caller', async () => {
    const { port } = await aServer(() => undefined);
    const { egress } = anEgress();
    const stop = new AbortController();
    const failure = failureOf(
      egress.fetch(`http://api.example.test:${port}/`, { signal: stop.signal }),
    );
    stop.abort(new Error('called off'));
    expect(await failure).toMatchObject({ message: 'called off' });
  });

  it('uses the system resolver unless another one is given', async () => {
    const { port } = await aServer();
    const egress = createEgress({
      mode: 'allowlist',
      allowedDomains: ['localhost'],
      allowPrivateIps: true,
      allowedPrivateCidrs: [],
      propagateTo: [],
      endpoints: [],
      record: () => undefined,
    });
    const response = await egress.fetch(`http://localhost:${port}/`);
    expect(await response.text()).toBe('hello');
    await egress.close();
  });
});
