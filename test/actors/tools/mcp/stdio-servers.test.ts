import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../helpers/patient.ts';
import { connected, listed, PuppetFolder, puppetConfig } from './puppet.ts';

const calls = ['echo', 'hang', 'die', 'big', 'huge', 'wrong', 'broken', 'liar', 'env', 'picture'];
const others = ['data', 'deep', 'ask', 'family', 'flood', 'deaf', 'where'];

function everyTool(): PuppetFolder {
  return new PuppetFolder([...calls, ...others].map((name) => listed(name)));
}

/** A process that has ended and that nobody has buried is gone. */
function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a server over stdio', () => {
  it('gives the agent its tools, and is called with the arguments as they are', async () => {
    const folder = new PuppetFolder([listed('echo'), listed('wrong')]);
    const { tools, call } = await connected(folder, [puppetConfig()]);
    expect([...tools.keys()]).toEqual(['shop__echo', 'shop__wrong']);
    expect(tools.get('shop__echo')).toMatchObject({
      description: 'Does echo.',
      parameters: { type: 'object' },
      idempotent: false,
    });
    expect(await call('shop__echo', { a: [1, { b: 'ü' }] })).toBe('{"a":[1,{"b":"ü"}]}');
    expect(await call('shop__wrong')).toBe('failed: shop__wrong failed: the till is stuck');
  });

  it('has nothing of the environment of the daemon', async () => {
    const folder = everyTool();
    const env = { PUPPET_DIR: folder.path, MODE: 'test', PUPPET_TOKEN: 'sesame-open' };
    const { call } = await connected(folder, [puppetConfig({ env })]);
    const seen = JSON.parse(await call('shop__env')) as Record<string, string>;
    expect(seen).toEqual({
      PATH: expect.stringContaining('/usr/bin'),
      HOME: expect.stringContaining('holdpoint-'),
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      MODE: 'test',
      PUPPET_DIR: folder.path,
      PUPPET_TOKEN: '[redacted:credential]',
      SERVICE_AGENT_DIR: folder.path,
    });
    expect(await call('shop__where')).toBe(folder.path);
  });

  it('shows texts as they are, structured results as JSON, and of the rest that it is there', async () => {
    const { call } = await connected(everyTool(), [puppetConfig()]);
    expect(await call('shop__picture')).toBe('[image: image/png, 3 bytes]\n[resource: file:///a]');
    expect(await call('shop__data')).toBe('{"total":3}');
  });

  it('fails a call in one sentence, whatever it comes to, and serves the next', async () => {
    const { call, tools } = await connected(everyTool(), [puppetConfig()]);
    expect(await call('shop__broken')).toBe('error -32603: shop__broken failed: it broke');
    expect(await call('shop__big')).toBe(
      'too much output: shop__big returned more than a tool may (1 MiB); ask it for less',
    );
    expect(await call('shop__deep')).toBe(
      'failed: shop__deep returned what cannot be written as text',
    );
    for (const name of ['die', 'huge', 'flood', 'deaf']) {
      expect(await call(`shop__${name}`)).toBe(
        `connection lost: the server of shop__${name} was lost while it worked; its outcome is unknown`,
      );
      expect(await call('shop__echo', { after: name })).toBe(`{"after":"${name}"}`);
    }
    expect(tools.size).toBe(calls.length + others.length);
  }, 60_000);

  it('has no longer for a call than a script has', async () => {
    const folder = everyTool();
    const limits = { timeout: 500, connect: 10_000 };
    const { call } = await connected(folder, [puppetConfig()], { limits });
    expect(await call('shop__hang')).toBe(
      'timeout: shop__hang took too long and was stopped; its outcome is unknown',
    );
    await vi.waitUntil(() => folder.told.includes('notifications/cancelled'), patient);
  });

  it('has longer for a call with each progress, up to the whole of its time', async () => {
    const folder = new PuppetFolder(['slow', 'hang'].map((name) => listed(name)));
    const patience = puppetConfig({ timeout: 700, total_timeout: 60_000 });
    const till = puppetConfig({ name: 'till', timeout: 700, total_timeout: 900 });
    const { call } = await connected(folder, [patience, till]);
    expect(await call('shop__slow')).toBe('done');
    expect(await call('till__slow')).toBe(
      'timeout: till__slow took too long and was stopped; its outcome is unknown',
    );
  });

  it('says where a call waits for a person, and of one that it calls off that it never ran', async () => {
    const folder = new PuppetFolder([listed('held')]);
    const { call, waits } = await connected(folder, [puppetConfig({ timeout: 500 })]);
    const wait = { at: 'shop', for: 'channel:slack:#ops', until: '2026-01-01T00:00:00.000Z' };
    expect(await call('shop__held')).toBe(
      'called off: shop__held was called off before it ran: it waited at shop for channel:slack:#ops for too long',
    );
    expect(waits).toEqual([wait, null]);
    expect(folder.told).toContain('outcome of b1');
    // Once it goes on there, nobody knows how far it has come.
    expect(await call('shop__held', { released: true })).toBe(
      'timeout: shop__held took too long and was stopped; its outcome is unknown',
    );
    expect(waits).toEqual([wait, null, wait, null]);
  });

  it('is asked anew what a tool is before a call that was released', async () => {
    const folder = new PuppetFolder([listed('echo')]);
    const { tools } = await connected(folder, [puppetConfig()]);
    const before = await tools.get('shop__echo')?.identity?.();
    const sha = expect.stringMatching(/^[0-9a-f]{64}$/);
    const named = { 'server.mjs': sha };
    const code = { named, tree: { 'server.mjs': sha, 'tools.json': sha } };
    const place = { command: 'node', args: ['server.mjs'], env: {}, program: sha, code };
    expect(before).toEqual({
      server: 'shop',
      place,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const tool = tools.get('shop__echo');
    folder.offer([listed('echo', { description: 'Does something else.' })]);
    expect(await tool?.identity?.()).not.toEqual(before);
    folder.offer([]);
    expect(await tool?.identity?.()).toEqual({ server: 'shop', place, sha256: null });
  });

  it('is another tool when its server is started from something else', async () => {
    const folder = new PuppetFolder([listed('echo')]);
    const servers = [
      puppetConfig({ env: { TILL: '1', TILL_TOKEN: 'a' } }),
      puppetConfig({ env: { TILL: '1', TILL_TOKEN: 'b' } }),
      puppetConfig({ env: { TILL: '2', TILL_TOKEN: 'a' } }),
      puppetConfig({ env: { TILL: '1', TILL_TOKEN: 'a' }, args: ['server.mjs', '--live'] }),
    ];
    const identities = await Promise.all(
      servers.map(async (server) =>
        (await connected(folder, [server])).tools.get('shop__echo')?.identity?.(),
      ),
    );
    const [one, renewed, ...moved] = identities;
    expect(renewed).toEqual(one);
    for (const other of moved) expect(other).not.toEqual(one);
    const [tool] = (await connected(folder, [puppetConfig()])).tools.values();
    const before = await tool?.identity?.();
    appendFileSync(join(folder.path, 'server.mjs'), '// changed');
    expect(await tool?.identity?.()).not.toEqual(before);
  });

  it('has the tool that was found changed before a call withheld at once', async () => {
    const folder = new PuppetFolder([listed('echo')]);
    const { tools } = await connected(folder, [puppetConfig()]);
    const tool = tools.get('shop__echo');
    folder.offer([listed('echo', { description: 'Does something else.' })]);
    await tool?.identity?.();
    expect([...tools.keys()]).toEqual([]);
  });

  it('may return no number that would be rounded', async () => {
    const { call } = await connected(new PuppetFolder([listed('count')]), [puppetConfig()]);
    expect(await call('shop__count')).toContain(
      'the number 2512292042121000001 cannot be read without changing it; send it as a string',
    );
  });

  it('calls a call off at the server when its task is', async () => {
    const folder = everyTool();
    const { call } = await connected(folder, [puppetConfig()]);
    const stop = new AbortController();
    const called = call('shop__hang', {}, stop.signal);
    await vi.waitUntil(() => folder.told.includes('hangs'), patient);
    stop.abort();
    expect(await called).toBe('stopped: shop__hang was stopped because its task was');
    await vi.waitUntil(() => folder.told.includes('notifications/cancelled'), patient);
    expect(await call('shop__echo')).toBe('{}');
  });

  it.each([
    ['pages', 'has more than 256 tools'],
    ['empty', 'lists its tools on more than 32 pages'],
    ['crowd', 'has more than 256 tools'],
    ['book', 'sent a message of more than 4 MiB'],
    ['nonsense', 'does not follow MCP (tools of its answer is not what MCP has there)'],
  ])('whose list of tools is no such list (%s) is let go of', async (mode, fault) => {
    const bad = puppetConfig({ env: { PUPPET: mode } });
    const till = puppetConfig({ name: 'till', tools: { allow: ['echo'] } });
    const { tools, call, warnings } = await connected(everyTool(), [bad, till]);
    expect([...tools.keys()]).toEqual(['till__echo']);
    expect(await call('till__echo')).toBe('{}');
    expect(warnings()).toEqual([`mcp: shop ${fault}`]);
  });

  it('keeps nobody up that never greets, or never lists its tools', async () => {
    const servers = [
      puppetConfig({ env: { PUPPET: 'silent' } }),
      puppetConfig({ name: 'desk', env: { PUPPET: 'stuck' } }),
      puppetConfig({ name: 'till', tools: { allow: ['echo'] } }),
    ];
    const { tools, call, warnings } = await connected(everyTool(), servers);
    expect([...tools.keys()]).toEqual(['till__echo']);
    expect(await call('till__echo')).toBe('{}');
    const late = 'did not answer in time';
    await vi.waitFor(
      () => expect(warnings().toSorted()).toEqual([`mcp: desk ${late}`, `mcp: shop ${late}`]),
      { timeout: 60_000 },
    );
  }, 90_000);

  it('is asked for its tools no more often for saying all the time that they have changed', async () => {
    const folder = everyTool();
    const { call } = await connected(folder, [puppetConfig({ env: { PUPPET: 'restless' } })]);
    const lists = () => folder.told.filter((told) => told === 'tools/list').length;
    await vi.waitUntil(() => lists() > 1, { timeout: 30_000 });
    expect(await call('shop__echo')).toBe('{}');
    // It has said so a hundred times and more by then.
    expect(lists()).toBeLessThan(10);
  }, 60_000);

  it('has no schema of it compiled, followed or believed', async () => {
    const evil = '^(a+)+$';
    const schemas: [string, object][] = [
      ['loop', { $ref: '#', properties: { a: { $ref: '#/properties/a' } } }],
      ['pattern', { properties: { a: { pattern: evil } }, patternProperties: { [evil]: {} } }],
      ['false', { required: 'a', properties: ['a'], additionalProperties: 'no' }],
      ['none', { not: {}, allOf: [{}], required: [7, null] }],
      ['own', { properties: { ['__proto__']: { type: 'string' } }, additionalProperties: false }],
    ];
    const folder = new PuppetFolder(
      schemas.map(([name, schema]) => listed(name, { inputSchema: { type: 'object', ...schema } })),
    );
    const { tools, call } = await connected(folder, [puppetConfig()]);
    expect([...tools.keys()]).toEqual(schemas.map(([name]) => `shop__${name}`));
    const args = { a: `${'a'.repeat(50_000)}!` };
    for (const [name] of schemas.slice(0, 4)) {
      // The puppet has no such plays, so it was asked.
      expect(await call(`shop__${name}`, args)).toContain(
        `shop__${name} failed: plays[params.name] is not a function`,
      );
    }
    expect(await call('shop__own', { constructor: 1 })).toBe(
      'invalid arguments: shop__own: argument constructor is not known',
    );
    expect(Object.prototype).not.toHaveProperty('type');
  });

  it('may return what does not fit the schema that it gave for it', async () => {
    const outputSchema = { type: 'object', required: ['nothing'], properties: { total: false } };
    const folder = new PuppetFolder([listed('data', { outputSchema })]);
    const { call } = await connected(folder, [puppetConfig()]);
    expect(await call('shop__data')).toBe('{"total":3}');
  });

  it('is refused whatever it asks of the agent', async () => {
    const { call, warnings } = await connected(everyTool(), [puppetConfig()]);
    expect(JSON.parse(await call('shop__ask'))).toEqual({
      code: -32601,
      message: expect.stringContaining('this client accepts no requests'),
    });
    expect(warnings()).toEqual([
      'mcp: shop asked the agent for sampling/createMessage, which is refused',
    ]);
  });

  it('ends with all it started when the agent stops', async () => {
    const { call, stop } = await connected(everyTool(), [puppetConfig()]);
    const pids = (await call('shop__family')).split(' ');
    expect(pids.map(isAlive)).toEqual([true, true]);
    await stop();
    await vi.waitUntil(() => !pids.some(isAlive), patient);
  });

  it('may write its own news where its messages go', async () => {
    const env = { PUPPET: 'chatty' };
    const { call } = await connected(everyTool(), [puppetConfig({ env })]);
    expect(await call('shop__echo')).toBe('{}');
  });

  it('shows nothing of the pass to the proxy, and says which host was refused to it', async () => {
    const refusal = 'egress blocked: registry.npmjs.org is not on the allowlist (mode=allowlist)';
    const pass = {
      env: { HTTPS_PROXY: 'http://user-of-pass:word-of-pass@127.0.0.1:1' },
      secretValues: ['word-of-pass', 'user-of-pass'],
      refusals: () => [refusal],
      release: () => undefined,
    };
    const proxy = { port: 1, socketPath: '', admit: () => pass, close: async () => undefined };
    const isolation = () => ({ proxy, sandbox: 'env' as const });
    const dead = puppetConfig({ name: 'desk', env: { PUPPET: 'dead' } });
    const folder = everyTool();
    const { call, warnings } = await connected(folder, [puppetConfig(), dead], { isolation });
    expect(JSON.parse(await call('shop__env'))['HTTPS_PROXY']).toBe(
      'http://[redacted:credential]:[redacted:credential]@127.0.0.1:1',
    );
    await vi.waitUntil(() => warnings().length > 0, patient);
    expect(warnings()).toEqual([
      `mcp: desk ended (exit code 3): ${refusal}; no such file: config.json undefined`,
    ]);
  });

  it('tells a fault once, however its times and numbers differ', async () => {
    const folder = everyTool();
    const { warnings } = await connected(folder, [puppetConfig({ env: { PUPPET: 'noisy' } })]);
    await vi.waitUntil(() => folder.told.length > 2, { timeout: 15_000 });
    expect(warnings()).toEqual([
      expect.stringMatching(/^mcp: shop ended \(exit code 3\): see ~\/log-\d+-\d+$/),
    ]);
  });

  it('keeps nobody up when it dies or is not there, and says why without its secrets', async () => {
    const env = { PUPPET: 'dead', PUPPET_KEY: 'sesame-open' };
    const servers = [
      puppetConfig({ env }),
      puppetConfig({ name: 'till', command: 'no-such-program' }),
      puppetConfig({ name: 'desk', command: './server.mjs' }),
    ];
    const { tools, warnings } = await connected(everyTool(), servers);
    expect(tools.size).toBe(0);
    expect(warnings().toSorted()).toEqual([
      expect.stringMatching(/^mcp: desk ended \(.+\)(: prlimit: .+ Permission denied)?$/),
      'mcp: shop ended (exit code 3): no such file: config.json [redacted]',
      expect.stringMatching(
        /^mcp: till needs the program no-such-program, which is not in \S+; install it$/,
      ),
    ]);
  });
});
