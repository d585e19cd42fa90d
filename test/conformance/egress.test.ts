import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { RecordedEvent } from '../../src/actors/records/log/audit.ts';
import { aServer } from '../actors/outbound/egress/a-server.ts';
import { cleanUp, startDaemon } from '../cli/holdpoint.ts';
import { AgentClient, playing } from '../helpers/agent-client.ts';
import { checkLogOf } from '../helpers/log-invariants.ts';
import {
  type AuditLine,
  expectIntact,
  readAudit,
  startInFolder,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';
import { asking, loopbackOpen, outwardFolder, startOutward } from './egress-agent.ts';

const workflow = {
  'X-Workflow-ID': 'refunds',
  'X-Workflow-Execution-ID': 'run-17',
  'X-Workflow-Stage-ID': 'pay',
  'X-Workflow-Step-ID': 'pay-1',
  'X-Invocation-Caller': 'orchestrator.example',
};

const tags = {
  workflow_id: 'refunds',
  workflow_execution_id: 'run-17',
  stage_id: 'pay',
  step_id: 'pay-1',
  invocation_caller: 'orchestrator.example',
};

const unlisted = 'egress blocked: shop.test is not on the allowlist (mode=allowlist)';

afterAll(cleanUp);

/** What the log says of hops, in order. */
function hopsOf(lines: AuditLine[]): [event: string, ...rest: unknown[]][] {
  return lines
    .filter(({ event }) => event.startsWith('egress_'))
    .map(({ event, fields }) => [event, ...Object.values(fields ?? {})]);
}

/** Has the agent ask for a URL, and resolves with the text of the task's state. */
async function ask(agent: TestAgent, url: string, id = 't'): Promise<string> {
  return textOf(await agent.send(id, asking(url)));
}

describe('a listed host', () => {
  it('answers the tool, and the log records that between start and end of the call', async () => {
    const { port, seen } = await aServer();
    const agent = await startOutward({ egress: loopbackOpen });
    const answer = await agent.send('t', asking(`http://127.0.0.1:${port}/a?b=c`));
    expect([answer.body.status.state, JSON.parse(textOf(answer))]).toEqual([
      'completed',
      { status: 200, headers: {}, body: 'hello' },
    ]);
    expect(seen.map(({ method, url }) => [method, url])).toEqual([['GET', '/a?b=c']]);
    const lines = agent.audit('t');
    expect(lines.map(({ event, fields }) => [event, fields?.['phase']])).toEqual([
      ['session_start', undefined],
      ['llm_call', undefined],
      ['call_ruled', undefined],
      ['tool_exec', 'start'],
      ['egress_allowed', undefined],
      ['tool_exec', 'end'],
      ['llm_call', undefined],
      ['session_end', undefined],
    ]);
    expect(lines[4]?.fields).toEqual({ domain: '127.0.0.1', mode: 'allowlist' });
    checkLogOf(lines as RecordedEvent[], 'pay');
  });

  it('is reached at every port, in any case of its name and with a trailing dot', async () => {
    const servers = [await aServer(), await aServer()];
    const allowed = ['LOCALHOST', '127.0.0.1.'];
    const egress = { allowed_domains: allowed, allowed_private_cidrs: ['127.0.0.0/8'] };
    const agent = await startOutward({ egress });
    const hosts = ['localhost', 'LocalHost', '127.0.0.1.'];
    for (const [at, host] of hosts.entries()) {
      for (const { port } of servers) {
        const text = await ask(agent, `http://${host}:${port}/`, `t-${at}-${port}`);
        expect(JSON.parse(text)).toMatchObject({ status: 200 });
      }
    }
    expect(hopsOf(agent.audit())).toEqual(
      ['localhost', 'localhost', 'localhost', 'localhost', '127.0.0.1', '127.0.0.1'].map((host) => [
        'egress_allowed',
        host,
        'allowlist',
      ]),
    );
  });

  it('with *. covers strictly deeper names of a domain', async () => {
    const agent = await startOutward({ egress: { allowed_domains: ['*.shop.invalid'] } });
    const hosts = ['a.shop.invalid', 'a.b.shop.invalid', 'shop.invalid', 'ashop.invalid'];
    const texts: string[] = [];
    for (const host of hosts) texts.push(await ask(agent, `http://${host}/`, host));
    expect(texts).toEqual([
      // Nobody has these names, but the policy let them be asked for.
      expect.stringMatching(/^http_request: a\.shop\.invalid could not be reached \([A-Z_]+\)$/),
      expect.stringMatching(/^http_request: a\.b\.shop\.invalid could not be reached \([A-Z_]+\)$/),
      'egress blocked: shop.invalid is not on the allowlist (mode=allowlist)',
      'egress blocked: ashop.invalid is not on the allowlist (mode=allowlist)',
    ]);
    expect(hopsOf(agent.audit())).toEqual([
      ['egress_allowed', 'a.shop.invalid', 'allowlist'],
      ['egress_allowed', 'a.b.shop.invalid', 'allowlist'],
      ['egress_blocked', 'shop.invalid', 'allowlist', 'is not on the allowlist'],
      ['egress_blocked', 'ashop.invalid', 'allowlist', 'is not on the allowlist'],
    ]);
  });
});

describe('an unlisted host', () => {
  const message = playing(asking('http://shop.test/'));

  /** The line of the refusal, and what must be around it. */
  async function expectRefusal(agent: TestAgent): Promise<void> {
    const lines = agent.audit('t');
    expect(lines.map(({ event }) => event)).toEqual([
      'session_start',
      'llm_call',
      'call_ruled',
      'tool_exec',
      'egress_blocked',
      'tool_exec',
      'session_end',
    ]);
    checkLogOf(lines as RecordedEvent[], 'pay');
    const [start] = lines;
    expect(lines[4]).toEqual({
      ts: expect.any(String),
      event: 'egress_blocked',
      seq: 5,
      task_id: 't',
      correlation_id: start?.correlation_id,
      ...tags,
      entity_id: 'till',
      entity_type: 'agent',
      fields: { domain: 'shop.test', mode: 'allowlist', reason: 'is not on the allowlist' },
      prev_hash: expect.stringMatching(/^[\da-f]{64}$/),
    });
    expect(lines[5]?.fields).toMatchObject({ phase: 'end', error: 'egress blocked' });
    await expectIntact(agent.auditPath);
  }

  it('fails the task over REST, with exactly this message', async () => {
    const agent = await startOutward();
    const answer = await agent.post('/tasks/send', { task: { id: 't', message } }, workflow);
    expect([answer.status, answer.body.status.state, textOf(answer)]).toEqual([
      200,
      'failed',
      unlisted,
    ]);
    await expectRefusal(agent);
  });

  it('fails the task over JSON-RPC, with exactly this message', async () => {
    const agent = await startOutward();
    const call = { jsonrpc: '2.0', id: 1, method: 'tasks/send', params: { id: 't', message } };
    const { body } = await agent.post('/', call, workflow);
    expect([body.result.status.state, textOf({ body: body.result })]).toEqual(['failed', unlisted]);
    await expectRefusal(agent);
  });

  it('fails the task in a stream, with exactly this message', async () => {
    const agent = await startOutward();
    const sent = { body: { id: 't', message }, headers: workflow };
    const { body } = await agent.request('POST', '/tasks/sendSubscribe', sent);
    const events = [...String(body).matchAll(/^data: (.*)$/gm)].map(([, data]) =>
      JSON.parse(data ?? ''),
    );
    const last = events.findLast(({ status }) => status !== undefined);
    expect([last.status.state, textOf({ body: last })]).toEqual(['failed', unlisted]);
    await expectRefusal(agent);
  });

  it('is never called after a redirect', async () => {
    const other = await aServer();
    const { port } = await aServer((_, response) => {
      response.writeHead(302, { location: `http://localhost:${other.port}/secret` }).end();
    });
    const egress = { ...loopbackOpen, allowed_domains: ['127.0.0.1'] };
    const agent = await startOutward({ egress });
    expect(await ask(agent, `http://127.0.0.1:${port}/`)).toBe(
      'egress blocked: localhost is not on the allowlist (mode=allowlist)',
    );
    expect(other.seen).toEqual([]);
    const lines = agent.audit('t');
    expect(hopsOf(lines)).toEqual([
      ['egress_allowed', '127.0.0.1', 'allowlist'],
      ['egress_blocked', 'localhost', 'allowlist', 'is not on the allowlist'],
    ]);
    checkLogOf(lines as RecordedEvent[], 'pay');
  });
});

describe('a private address', () => {
  it('is refused although it is listed, by number and by name', async () => {
    const { port, seen } = await aServer();
    const agent = await startOutward({ egress: { allowed_domains: ['127.0.0.1', 'localhost'] } });
    expect([
      await ask(agent, `http://127.0.0.1:${port}/`, 'number'),
      await ask(agent, `http://localhost:${port}/`, 'name'),
    ]).toEqual([
      'egress blocked: 127.0.0.1 is a loopback address (mode=allowlist)',
      'egress blocked: localhost resolves to a loopback address (mode=allowlist)',
    ]);
    expect(seen).toEqual([]);
    expect(hopsOf(agent.audit())).toEqual([
      ['egress_blocked', '127.0.0.1', 'allowlist', 'is a loopback address'],
      ['egress_blocked', 'localhost', 'allowlist', 'resolves to a loopback address'],
    ]);
  });

  it.each([
    ['allow_private_ips', { allow_private_ips: true }],
    ['allowed_private_cidrs', { allowed_private_cidrs: ['127.0.0.0/30'] }],
  ])('is permitted by %s only when it is listed', async (_, opening) => {
    const { port } = await aServer();
    const egress = { allowed_domains: ['127.0.0.1'], ...opening };
    const agent = await startOutward({ egress });
    expect(await ask(agent, `http://127.0.0.1:${port}/`, 'listed')).toContain('hello');
    expect(await ask(agent, `http://127.0.0.2:${port}/`, 'unlisted')).toBe(
      'egress blocked: 127.0.0.2 is not on the allowlist (mode=allowlist)',
    );
  });

  it('stays refused outside the permitted network', async () => {
    const egress = {
      allowed_domains: ['127.0.0.1', '10.0.0.1'],
      allowed_private_cidrs: ['127.0.0.2/32'],
    };
    const agent = await startOutward({ egress });
    expect([
      await ask(agent, 'http://127.0.0.1:8081/', 'loopback'),
      await ask(agent, 'http://10.0.0.1:8081/', 'private'),
    ]).toEqual([
      'egress blocked: 127.0.0.1 is a loopback address (mode=allowlist)',
      'egress blocked: 10.0.0.1 is a private address (mode=allowlist)',
    ]);
  });

  it('of the daemon itself is unreachable, also in another spelling', async () => {
    const agent = await startOutward();
    const { port } = new URL(agent.url);
    for (const host of ['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost']) {
      expect(await ask(agent, `http://${host}:${port}/healthz`, `t-${host.length}`)).toMatch(
        /^egress blocked: \S+ is not on the allowlist \(mode=allowlist\)$/,
      );
    }
  });
});

/** Loopback as people write it to get past a filter, and the address that it is. */
const loopback: [spelling: string, address: string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['0x7f000001', '127.0.0.1'],
  ['0177.0.0.1', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['0x7f.1', '127.0.0.1'],
  ['１２７.０.０.１', '127.0.0.1'],
  ['127.0.0.1.', '127.0.0.1'],
  ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
  ['[::ffff:7f00:1]', '::ffff:7f00:1'],
  ['[::1]', '::1'],
];

/** What no setting opens. */
const closed: [spelling: string, address: string, why: string][] = [
  ['169.254.169.254', '169.254.169.254', 'is a metadata address'],
  ['0xa9fea9fe', '169.254.169.254', 'is a metadata address'],
  ['2852039166', '169.254.169.254', 'is a metadata address'],
  ['[::ffff:169.254.169.254]', '::ffff:a9fe:a9fe', 'is a metadata address'],
  ['[fd00:ec2::254]', 'fd00:ec2::254', 'is a metadata address'],
  ['100.100.100.200', '100.100.100.200', 'is a metadata address'],
  ['192.0.0.192', '192.0.0.192', 'is a metadata address'],
  ['168.63.129.16', '168.63.129.16', 'is a metadata address'],
  ['169.254.0.1', '169.254.0.1', 'is a link-local address'],
  ['224.0.0.1', '224.0.0.1', 'is a multicast address'],
  ['0.0.0.0', '0.0.0.0', 'is an unspecified address'],
  ['[::]', '::', 'is an unspecified address'],
  ['[::7f00:1]', '::7f00:1', 'is a reserved address'],
];

describe('an address in any spelling', () => {
  /** Has the agent ask for each of them, and expects refusals in the words of the answer and of the log. */
  async function expectRefused(
    agent: TestAgent,
    hosts: [spelling: string, address: string, why: string][],
    mode: string,
  ): Promise<void> {
    const { port, seen } = await aServer();
    const texts: string[] = [];
    for (const [at, [spelling]] of hosts.entries()) {
      texts.push(await ask(agent, `http://${spelling}:${port}/`, `t-${at}`));
    }
    const refusals = hosts.map(([, address, why]) => [address, why]);
    expect(texts).toEqual(
      refusals.map((said) => `egress blocked: ${said.join(' ')} (mode=${mode})`),
    );
    expect(hopsOf(agent.audit())).toEqual(
      refusals.map(([address, why]) => ['egress_blocked', address, mode, why]),
    );
    expect(seen).toEqual([]);
  }

  it('is refused while it is not listed, although its range is permitted', async () => {
    const agent = await startOutward({ egress: { allow_private_ips: true } });
    const all = [...loopback, ...closed].map(([spelling, address]): [string, string, string] => [
      spelling,
      address,
      'is not on the allowlist',
    ]);
    await expectRefused(agent, all, 'allowlist');
  });

  it('is refused while its range is not permitted, although it is listed', async () => {
    const listed = [...new Set(loopback.map(([, address]) => address))];
    const agent = await startOutward({ egress: { allowed_domains: listed } });
    const all = loopback.map(([spelling, address]): [string, string, string] => [
      spelling,
      address,
      'is a loopback address',
    ]);
    await expectRefused(agent, all, 'allowlist');
  });

  it('is refused even in dev-open without a permission', async () => {
    await expectRefused(await startOutward({ egress: { mode: 'dev-open' } }), closed, 'dev-open');
  });
});

describe('the egress mode', () => {
  it('deny-all also refuses listed hosts', async () => {
    const { port, seen } = await aServer();
    const agent = await startOutward({ egress: { ...loopbackOpen, mode: 'deny-all' } });
    expect(await ask(agent, `http://127.0.0.1:${port}/`)).toBe(
      'egress blocked: 127.0.0.1 is not on the allowlist (mode=deny-all)',
    );
    expect([seen, hopsOf(agent.audit())]).toEqual([
      [],
      [['egress_blocked', '127.0.0.1', 'deny-all', 'is not on the allowlist']],
    ]);
  });

  it('dev-open permits unlisted hosts', async () => {
    const { port } = await aServer();
    const agent = await startOutward({ egress: { mode: 'dev-open' } });
    for (const host of ['127.1', 'localhost']) {
      expect(await ask(agent, `http://${host}:${port}/`, host)).toContain('hello');
    }
    expect(hopsOf(agent.audit())).toEqual([
      ['egress_allowed', '127.0.0.1', 'dev-open'],
      ['egress_allowed', 'localhost', 'dev-open'],
    ]);
  });

  it.each(['deny-all', 'allowlist', 'dev-open'])(
    '%s is in the log from the start',
    async (mode) => {
      const agent = await startOutward({ egress: { mode } });
      const [loaded] = agent.audit().filter(({ event }) => event === 'policy_loaded');
      expect(loaded?.fields).toMatchObject({ egress: mode, sandbox: 'env' });
    },
  );
});

describe('the headers of an outbound request', () => {
  const canary = 'canary-77aa10-inbound-bearer';

  it('include the workflow on hosts that are listed for it, hop by hop', async () => {
    const last = await aServer();
    const middle = await aServer((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${last.port}/last` }).end();
    });
    const first = await aServer((_, response) => {
      response.writeHead(307, { location: `http://localhost:${middle.port}/middle` }).end();
    });
    const agent = await startOutward({
      egress: loopbackOpen,
      workflow_propagation: { allowed_hosts: ['127.0.0.1'] },
    });
    const message = playing(asking(`http://127.0.0.1:${first.port}/`));
    await agent.post('/tasks/send', { task: { id: 't', message } }, workflow);
    const carried = [first, middle, last].map(({ seen }) =>
      seen.map(({ headers }) =>
        Object.keys(workflow).map((name) => headers[name.toLowerCase()] ?? null),
      ),
    );
    const all = Object.values(workflow);
    expect(carried).toEqual([[all], [all.map(() => null)], [all]]);
    expect(hopsOf(agent.audit('t'))).toEqual([
      ['egress_allowed', '127.0.0.1', 'allowlist'],
      ['egress_allowed', 'localhost', 'allowlist'],
      ['egress_allowed', '127.0.0.1', 'allowlist'],
    ]);
  });

  it('never include the credentials or other headers of the caller', async () => {
    const { port, seen } = await aServer();
    const agent = await startOutward({
      egress: loopbackOpen,
      workflow_propagation: { allowed_hosts: ['127.0.0.1'] },
      auth: { providers: [{ type: 'static_token', name: 'ops', settings: { token: canary } }] },
    });
    const message = playing(asking(`http://127.0.0.1:${port}/`));
    const sent = { task: { id: 't', message } };
    const more = { cookie: canary, 'x-api-key': canary, baggage: `key=${canary}` };
    const answer = await agent.as(canary).post('/tasks/send', sent, { ...workflow, ...more });
    expect(textOf(answer)).toContain('hello');
    const onBehalfOfRuntime = await agent
      .as(agent.token)
      .post('/tasks/send', { task: { id: 'u', message } });
    expect(textOf(onBehalfOfRuntime)).toContain('hello');
    expect(seen).toHaveLength(2);
    const received = JSON.stringify(seen);
    expect([received.includes(canary), received.includes(agent.token)]).toEqual([false, false]);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it('include the trace of the task only where the workflow is sent', async () => {
    const collector = await aServer();
    const { port, seen } = await aServer();
    const agent = await startOutward({
      egress: loopbackOpen,
      workflow_propagation: { allowed_hosts: ['127.0.0.1'] },
      observability: {
        tracing: { enabled: true, endpoint: `http://127.0.0.1:${collector.port}/v1/traces` },
      },
    });
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    for (const host of ['127.0.0.1', 'localhost']) {
      const message = playing(asking(`http://${host}:${port}/${host}`));
      await agent.post('/tasks/send', { task: { id: host, message } }, { traceparent });
    }
    expect(seen.map(({ url, headers }) => [url, headers['traceparent']])).toEqual([
      ['/127.0.0.1', expect.stringMatching(new RegExp(`^00-${traceId}-[\\da-f]{16}-01$`))],
      ['/localhost', undefined],
    ]);
    expect(seen[0]?.headers['traceparent']).not.toBe(traceparent);
  });
});

describe('several running tasks', () => {
  it('have their own hops each', async () => {
    const waiting: ServerResponse[] = [];
    const { port } = await aServer((_, response) => {
      waiting.push(response);
      // Nobody is answered before all are at it.
      if (waiting.length === 3) for (const each of waiting) each.end('hello');
    });
    const agent = await startOutward({ egress: loopbackOpen });
    const domains = ['127.0.0.1', 'localhost', 'localhost'];
    const answers = await Promise.all(
      domains.map((host, at) => ask(agent, `http://${host}:${port}/`, `t-${at}`)),
    );
    expect(answers.map((text) => JSON.parse(text).body)).toEqual(['hello', 'hello', 'hello']);
    for (const [at, domain] of domains.entries()) {
      const lines = agent.audit(`t-${at}`);
      expect(hopsOf(lines)).toEqual([['egress_allowed', domain, 'allowlist']]);
      checkLogOf(lines as RecordedEvent[], 'pay');
    }
  });

  it('have them also after a wait for a person and a restart', async () => {
    const { port, seen } = await aServer();
    const rule = { to: 'channel:console:desk', timeout: '5m' };
    const folder = outwardFolder({
      egress: loopbackOpen,
      workflow_propagation: { allowed_hosts: ['127.0.0.1'] },
      security: {
        defer: { enabled: true, on_restart: 'resume', tools: { http_request: rule } },
      },
    });
    const before = await startInFolder(folder);
    const message = playing(asking(`http://127.0.0.1:${port}/`));
    const sent = before.post('/tasks/send', { task: { id: 't', message } }, workflow);
    await before.reached('t', 'deferred');
    await before.stop();
    await sent;
    expect(seen).toEqual([]);
    const agent = await startInFolder(folder);
    await agent.decide('t', { decision: 'approve', approver: 'ada' });
    await agent.reached('t', 'completed');
    const lines = agent.audit('t');
    checkLogOf(lines as RecordedEvent[], 'http_request');
    const [start] = lines;
    const hop = lines.find(({ event }) => event === 'egress_allowed');
    expect(hop).toMatchObject({ ...tags, correlation_id: start?.correlation_id });
    expect(seen.map(({ headers }) => headers['x-workflow-execution-id'])).toEqual(['run-17']);
  });

  it('abort their requests when they are canceled', async () => {
    const { promise: asked, resolve: arrived } = Promise.withResolvers<void>();
    const { promise: left, resolve: gone } = Promise.withResolvers<void>();
    const { port } = await aServer((_, response) => {
      response.once('close', gone);
      arrived();
    });
    const agent = await startOutward({ egress: loopbackOpen });
    const answer = agent.send('t', asking(`http://127.0.0.1:${port}/`));
    await asked;
    await agent.post('/tasks/t/cancel', {});
    expect((await answer).body.status.state).toBe('canceled');
    await left;
    const lines = agent.audit('t');
    expect(hopsOf(lines)).toEqual([['egress_allowed', '127.0.0.1', 'allowlist']]);
    checkLogOf(lines as RecordedEvent[], 'pay');
  });
});

describe('an agent in a separate process', () => {
  it('permits and refuses the same requests', async () => {
    const { port, seen } = await aServer();
    const egress = { ...loopbackOpen, allowed_domains: ['127.0.0.1'] };
    const folder = outwardFolder({ egress });
    const daemon = await startDaemon(folder.path);
    const client = new AgentClient(daemon.url, null);
    const allowed = await client.send('yes', asking(`http://127.0.0.1:${port}/`));
    const refused = await client.send('no', asking('http://shop.test/'));
    expect([JSON.parse(textOf(allowed)), refused.body.status.state, textOf(refused)]).toEqual([
      { status: 200, headers: {}, body: 'hello' },
      'failed',
      unlisted,
    ]);
    expect(seen).toHaveLength(1);
    const path = `${folder.path}/.service/audit.ndjson`;
    await vi.waitUntil(() => hopsOf(readAudit(path)).length >= 2, { timeout: 10_000 });
    expect(hopsOf(readAudit(path))).toEqual([
      ['egress_allowed', '127.0.0.1', 'allowlist'],
      ['egress_blocked', 'shop.test', 'allowlist', 'is not on the allowlist'],
    ]);
    expect((await daemon.stop()).code).toBe(0);
    await expectIntact(path);
  });
});
