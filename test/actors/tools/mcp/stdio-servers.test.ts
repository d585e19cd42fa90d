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

/** A zombie process counts as exited. */
function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a server over stdio', () => {
  it('provides its tools, and is called with unchanged arguments', async () => {
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

  it('gets no variable of the daemon', async () => {
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

  it('returns texts unchanged, structured results as JSON, and other parts as a note', async () => {
    const { call } = await connected(everyTool(), [puppetConfig()]);
    expect(await call('shop__picture')).toBe('[image: image/png, 3 bytes]\n[resource: file:///a]');
    expect(await call('shop__data')).toBe('{"total":3}');
  });

  it('fails a call with one message, for any failure, and serves the next one', async () => {
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

  it('has the time limit of a script for a call', async () => {
    const folder = everyTool();
    const limits = { timeout: 500, connect: 10_000 };
    const { call } = await connected(folder, [puppetConfig()], { limits });
    expect(await call('shop__hang')).toBe(
      'timeout: shop__hang took too long and was stopped; its outcome is unknown',
    );
    await vi.waitUntil(() => folder.told.includes('notifications/cancelled'), patient);
  });

  it('has more time with each progress, up to the limit of the call', async () => {
    const folder = new PuppetFolder(['slow', 'hang'].map((name) => listed(name)));
    const patience = puppetConfig({ timeout: 700, total_timeout: 60_000 });
    const till = puppetConfig({ name: 'till', timeout: 700, total_timeout: 900 });
    const { call } = await connected(folder, [patience, till]);
    expect(await call('shop__slow')).toBe('done');
    expect(await call('till__slow')).toBe(
      'timeout: till__slow took too long and was stopped; its outcome is unknown',
    );
  });

  it('reports that a call waits for a person, and that a canceled one never ran', async () => {
    const folder = new PuppetFolder([listed('held')]);
    const { call, waits } = await connected(folder, [puppetConfig({ timeout: 500 })]);
    const wait = { at: 'shop', for: 'channel:slack:#ops', until: '2026-01-01T00:00:00.000Z' };
    expect(await call('shop__held')).toBe(
      'called off: shop__held was called off before it ran: it waited at shop for channel:slack:#ops for too long',
    );
    expect(waits).toEqual([wait, null]);
    expect(folder.told).toContain('outcome of b1');
    // After it continues there, its progress is unknown.
    expect(await call('shop__held', { released: true })).toBe(
      'timeout: shop__held took too long and was stopped; its outcome is unknown',
    );
    expect(waits).toEqual([wait, null, wait, null]);
  });

  it('is asked for the current tool before a released call', async () => {
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

  it('is another tool when its server is started from another program', async () => {
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

  it('has a tool that changed before a call withheld at once', async () => {
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

  it('receives a cancel when the task is canceled', async () => {
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
  ])('with an invalid list of tools (%s) is disconnected', async (mode, fault) => {
    const bad = puppetConfig({ env: { PUPPET: mode } });
    const till = puppetConfig({ name: 'till', tools: { allow: ['echo'] } });
    const { tools, call, warnings } = await connected(everyTool(), [bad, till]);
    expect([...tools.keys()]).toEqual(['till__echo']);
    expect(await call('till__echo')).toBe('{}');
    expect(warnings()).toEqual([`mcp: shop ${fault}`]);
  });

  it('delays no start that never initializes, or never lists its tools', async () => {
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

  it('is not asked for its tools more often for constant change events', async () => {
    const folder = everyTool();
    const { call } = await connected(folder, [puppetConfig({ env: { PUPPET: 'restless' } })]);
    const lists = () => folder.told.filter((told) => told === 'tools/list').length;
    await vi.waitUntil(() => lists() > 1, { timeout: 30_000 });
    expect(await call('shop__echo')).toBe('{}');
    // It has said so a hundred times and more by then.
    expect(lists()).toBeLessThan(10);
  }, 60_000);

  it('has its schemas neither compiled nor followed', async () => {
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

  it('may return a result outside its output schema', async () => {
    const outputSchema = { type: 'object', required: ['nothing'], properties: { total: false } };
    const folder = new PuppetFolder([listed('data', { outputSchema })]);
    const { call } = await connected(folder, [puppetConfig()]);
    expect(await call('shop__data')).toBe('{"total":3}');
  });

  it('gets a refusal for each request to the agent', async () => {
    const { call, warnings } = await connected(everyTool(), [puppetConfig()]);
    expect(JSON.parse(await call('shop__ask'))).toEqual({
      code: -32601,
      message: expect.stringContaining('this client accepts no requests'),
    });
    expect(warnings()).toEqual([
      'mcp: shop asked the agent for sampling/createMessage, which is refused',
    ]);
  });

  it('exits with its children when the agent stops', async () => {
    const { call, stop } = await connected(everyTool(), [puppetConfig()]);
    const pids = (await call('shop__family')).split(' ');
    expect(pids.map(isAlive)).toEqual([true, true]);
    await stop();
    await vi.waitUntil(() => !pids.some(isAlive), patient);
  });

  it('may write log lines between its messages', async () => {
    const env = { PUPPET: 'chatty' };
    const { call } = await connected(everyTool(), [puppetConfig({ env })]);
    expect(await call('shop__echo')).toBe('{}');
  });

  it('does not show the proxy pass, and names the refused host', async () => {
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

  it('logs a fault once, with any times and numbers in it', async () => {
    const folder = everyTool();
    const { warnings } = await connected(folder, [puppetConfig({ env: { PUPPET: 'noisy' } })]);
    await vi.waitUntil(() => folder.told.length > 2, { timeout: 15_000 });
    expect(warnings()).toEqual([
      expect.stringMatching(/^mcp: shop ended \(exit code 3\): see ~\/log-\d+-\d+$/),
    ]);
  });

  it('delays no start when it exits or is missing, and the reason has no secrets', async () => {
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
