import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createEgress,
  type Egress,
  type EgressOptions,
} from '../../../../src/actors/outbound/egress/egress.ts';
import type { EgressRecord } from '../../../../src/actors/ports/egress.ts';
import { ToolError } from '../../../../src/actors/ports/tool.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';
import { aBuiltin } from './a-builtin.ts';

const tags = {
  workflow_id: 'refunds',
  workflow_execution_id: 'run-7',
  stage_id: 's1',
  step_id: 'p2',
  invocation_caller: 'orchestrator',
};

const scope = { taskId: 't1', correlationId: 'x1', tags };

/** A server on loopback that other names lead to as well. */
async function serving(answer: (response: ServerResponse, path: string) => void) {
  const seen: { host: string; path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ headers, url: path = '' }, response) => {
    seen.push({ host: headers.host?.split(':')[0] ?? '', path, headers });
    answer(response, path);
  });
  const { port } = new URL(await listenOnLoopback(server));
  return { port, seen };
}

/** The policy itself, to which every name is a name of this machine. */
function policed(options: Partial<EgressOptions>): { egress: Egress; records: EgressRecord[] } {
  const records: EgressRecord[] = [];
  const egress = createEgress({
    mode: 'allowlist',
    allowedDomains: ['api.test', '*.shop.test'],
    allowPrivateIps: false,
    allowedPrivateCidrs: ['127.0.0.0/8'],
    propagateTo: [],
    endpoints: [],
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
    record: (record) => void records.push(record),
  });
  onTestFinished(() => egress.close());
  return { egress, records };
}

async function ask(egress: Egress, args: JsonObject): Promise<string> {
  const tool = await aBuiltin('http_request');
  const run = { ...scope, correlationId: 'x1', callId: 'c1', credential: null, outbound: egress };
  const { signal } = new AbortController();
  return egress.within(scope, () => tool.run(args, { ...run, signal }));
}

function workflowHeaders(headers: IncomingHttpHeaders): Record<string, unknown> {
  const names = /^x-(?:workflow|invocation)/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
}

const ok = (response: ServerResponse) => void response.end('ok');

describe('http_request under the egress policy', () => {
  it('sends the workflow headers to a host that is listed for them', async () => {
    const { port, seen } = await serving(ok);
    const { egress, records } = policed({ propagateTo: ['api.test'] });
    expect(JSON.parse(await ask(egress, { url: `http://API.test:${port}/a` }))).toEqual({
      status: 200,
      headers: {},
      body: 'ok',
    });
    expect(seen.map(({ headers }) => workflowHeaders(headers))).toEqual([
      {
        'x-workflow-id': 'refunds',
        'x-workflow-execution-id': 'run-7',
        'x-workflow-stage-id': 's1',
        'x-workflow-step-id': 'p2',
        'x-invocation-caller': 'orchestrator',
      },
    ]);
    expect(records).toEqual([{ scope, domain: 'api.test', mode: 'allowlist', reason: null }]);
  });

  it('sends no workflow headers by default, nor to another host', async () => {
    const { port, seen } = await serving(ok);
    await ask(policed({}).egress, { url: `http://api.test:${port}/` });
    await ask(policed({ propagateTo: ['*.api.test'] }).egress, { url: `http://api.test:${port}/` });
    expect(seen.map(({ headers }) => workflowHeaders(headers))).toEqual([{}, {}]);
  });

  it('keeps a header that the call itself sets', async () => {
    const { port, seen } = await serving(ok);
    const { egress } = policed({ propagateTo: ['api.test'] });
    const headers = { 'x-workflow-id': 'mine' };
    await ask(egress, { url: `http://api.test:${port}/`, headers });
    expect(seen[0]?.headers['x-workflow-id']).toBe('mine');
    expect(seen[0]?.headers['x-workflow-step-id']).toBe('p2');
  });

  it('is refused for an unlisted host, with exactly this message', async () => {
    const { port, seen } = await serving(ok);
    const { egress, records } = policed({});
    await expect(ask(egress, { url: `http://shop.test:${port}/` })).rejects.toEqual(
      new ToolError('egress blocked: shop.test is not on the allowlist (mode=allowlist)'),
    );
    expect(seen).toEqual([]);
    expect(records).toEqual([
      { scope, domain: 'shop.test', mode: 'allowlist', reason: 'is not on the allowlist' },
    ]);
  });

  it('is always refused while everything is denied', async () => {
    const { egress } = policed({ mode: 'deny-all' });
    await expect(ask(egress, { url: 'http://api.test/' })).rejects.toEqual(
      new ToolError('egress blocked: api.test is not on the allowlist (mode=deny-all)'),
    );
  });

  it('follows a redirect to a listed host without the headers for the first one', async () => {
    const { port, seen } = await serving((response, path) => {
      if (path === '/done') return void response.end('done');
      response.writeHead(302, { location: `http://pay.shop.test:${port}/done` }).end();
    });
    const { egress, records } = policed({ propagateTo: ['api.test'] });
    const headers = { authorization: 'Bearer canary', 'x-api-key': 'canary', cookie: 'canary' };
    const answer = await ask(egress, { url: `http://api.test:${port}/`, headers });
    expect(JSON.parse(answer)).toEqual({ status: 200, headers: {}, body: 'done' });
    expect(seen.map(({ host, path }) => [host, path])).toEqual([
      ['api.test', '/'],
      ['pay.shop.test', '/done'],
    ]);
    expect(JSON.stringify(seen[1]?.headers)).not.toContain('canary');
    expect(workflowHeaders(seen[1]?.headers ?? {})).toEqual({});
    expect(records.map(({ domain, reason }) => [domain, reason])).toEqual([
      ['api.test', null],
      ['pay.shop.test', null],
    ]);
  });

  it('does not follow a redirect to an unlisted host', async () => {
    const { port, seen } = await serving((response) =>
      response.writeHead(307, { location: `http://evil.test:${port}/` }).end(),
    );
    const { egress } = policed({});
    await expect(
      ask(egress, { method: 'POST', url: `http://api.test:${port}/`, body: 'secret' }),
    ).rejects.toEqual(
      new ToolError('egress blocked: evil.test is not on the allowlist (mode=allowlist)'),
    );
    expect(seen.map(({ host }) => host)).toEqual(['api.test']);
  });

  it('is stopped when a name resolves to a private address', async () => {
    const { egress } = policed({ allowedPrivateCidrs: [] });
    await expect(ask(egress, { url: 'http://api.test:8081/' })).rejects.toEqual(
      new ToolError('egress blocked: api.test resolves to a loopback address (mode=allowlist)'),
    );
  });
});
