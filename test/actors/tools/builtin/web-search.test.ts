import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEgress, type Egress } from '../../../../src/actors/outbound/egress/egress.ts';
import type { EgressRecord } from '../../../../src/actors/ports/egress.ts';
import { ToolError } from '../../../../src/actors/ports/tool.ts';
import type { ToolConfig } from '../../../../src/actors/tools/tools.ts';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';
import { aBuiltin } from './a-builtin.ts';
import { aRun } from './isolated-script.ts';

const key = 'tvly-canary-key';

/** A search service that answers like this, and the policy to which it is the daemon's own. */
async function service(answer: (response: ServerResponse) => void) {
  const seen: { headers: IncomingHttpHeaders; body: unknown }[] = [];
  const records: EgressRecord[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      seen.push({ headers: request.headers, body: JSON.parse(body) });
      answer(response);
    });
  });
  const url = await listenOnLoopback(server);
  const { hostname, port } = new URL(url);
  const egress = createEgress({
    ...{ mode: 'allowlist', allowedDomains: [], allowPrivateIps: false, allowedPrivateCidrs: [] },
    propagateTo: [],
    endpoints: [{ host: hostname, port: Number(port), source: 'tools.0' }],
    record: (record) => void records.push(record),
  });
  onTestFinished(() => egress.close());
  return { url: `${url}/search`, seen, records, egress };
}

async function search(egress: Egress, config: ToolConfig, env = { TAVILY_API_KEY: key }) {
  const tool = await aBuiltin('web_search', undefined, { env, settings: () => config });
  const run = aRun({ outbound: egress });
  const scope = { taskId: 't1', correlationId: 'x', tags: {} };
  return egress.within(scope, () => tool.run({ query: 'tea', limit: 2 }, run));
}

function results(value: unknown): (response: ServerResponse) => void {
  return (response) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
}

describe('web_search', () => {
  it('calls the service with its key, outside the workflow', async () => {
    const found = { title: 'Tea', url: 'https://tea.example/', content: `Hot. ${key}`, score: 1 };
    const { url, seen, records, egress } = await service(results({ results: [found, {}, null] }));
    expect(JSON.parse(await search(egress, { base_url: url }))).toEqual([
      { title: 'Tea', url: 'https://tea.example/', snippet: 'Hot. [redacted:credential]' },
    ]);
    expect(seen.map(({ headers, body }) => [headers.authorization, body])).toEqual([
      [`Bearer ${key}`, { query: 'tea', max_results: 2 }],
    ]);
    expect(records.map(({ scope, reason }) => [scope?.isOwn, scope?.taskId, reason])).toEqual([
      [true, 't1', null],
    ]);
    const fetchIt = await aBuiltin('http_request');
    const run = aRun({ outbound: egress });
    const scope = { taskId: 't1', correlationId: 'x', tags: {} };
    await expect(egress.within(scope, () => fetchIt.run({ url }, run))).rejects.toThrow(
      'egress blocked: 127.0.0.1 is not on the allowlist (mode=allowlist)',
    );
  });

  it('reads what Perplexity answers', async () => {
    const found = {
      title: 'Tea',
      url: 'https://tea.example/',
      snippet: 'Hot.',
      date: '2026-11-01',
    };
    const { url, egress } = await service(results({ results: [found, found, found] }));
    const config: ToolConfig = { provider: 'perplexity', base_url: url, api_key_env: 'KEY' };
    const answer = await search(egress, config, { KEY: key } as never);
    expect(JSON.parse(answer)).toEqual([found, found]);
  });

  it('sends its key to no other host', async () => {
    const { url, seen, egress } = await service(
      (response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    );
    await expect(search(egress, { base_url: url })).rejects.toThrow(
      /^web_search: 127\.0\.0\.1:\d+ could not be reached$/,
    );
    expect(seen).toHaveLength(1);
  });

  it.each([
    [401, 'web_search: the search service refused the key; set another'],
    [429, 'web_search: the search service answered with status 429'],
    [200, 'web_search: the search service answered something else than results'],
  ])('explains the status %i, without the key', async (status, message) => {
    const { url, egress } = await service((response) => void response.writeHead(status).end(key));
    await expect(search(egress, { base_url: url })).rejects.toEqual(new ToolError(message));
  });

  it('names its missing variable', async () => {
    const { egress } = await service(results({}));
    await expect(search(egress, { provider: 'perplexity' })).rejects.toEqual(
      new ToolError('web_search needs the environment variable PERPLEXITY_API_KEY; set it'),
    );
  });
});
