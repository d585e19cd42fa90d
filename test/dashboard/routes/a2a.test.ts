import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Log } from '../../../src/actors/ports/log.ts';
// Loaded when first needed; what these packages leave on the process is theirs for its whole life.
import '../../../src/dashboard/reading/a2a-inspector.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { deferring } from '../../helpers/test-agent.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';
import { WorkspaceAgent } from '../../helpers/workspace-agents.ts';

const token = 'canary-token-81';

async function opened() {
  const lines: unknown[] = [];
  const note = (...said: unknown[]) => void lines.push(said);
  const log = { info: note, warn: note, error: note } as Log;
  let agent!: WorkspaceAgent;
  const dashboard = await openDashboard(
    (workspace) => {
      agent = new WorkspaceAgent(workspace, 'till', deferring());
    },
    { log },
  );
  return { dashboard, agent, lines };
}

it('the card of an agent of the workspace is read in every form, and on its old path', async () => {
  const { dashboard, agent } = await opened();
  expect(await dashboard.post('/api/a2a/card', { agent: 'till' })).toMatchObject({ status: 409 });
  await agent.start(dashboard);
  const { status, body } = await dashboard.post('/api/a2a/card', { agent: 'till' });
  expect(status).toBe(200);
  expect(
    body.cards.map(({ asked, form, findings }: any) => [
      asked,
      form,
      findings.filter(({ severity }: any) => severity === 'error'),
    ]),
  ).toEqual([
    ['', 'hybrid', []],
    ['0.3', '0.3', []],
    ['1.0', '1.0', []],
  ]);
  expect(body.legacy.findings).toEqual([]);
  const published = readFileSync(join(agent.folder.path, '.service/audit.ndjson'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .find(({ event }) => event === 'agent_card_published');
  expect(body.cards[0].card_sha256).toBe(published.fields.card_sha256);
}, 120_000);

it('a foreign agent on this machine is called only on request, and its answer is streamed', async () => {
  const { dashboard, lines } = await opened();
  let end = (): void => undefined;
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${request.headers.authorization}\n\n`);
    end = () => response.end('data: last\n\n');
  });
  const url = await listenOnLoopback(server);
  const request = { url, token, method: 'POST', path: '/', body: '{}' };
  const refused = await fetch(`${dashboard.url}/api/a2a/send`, {
    ...{ method: 'POST', body: JSON.stringify(request) },
    headers: { 'content-type': 'application/json' },
  });
  expect(JSON.parse(await refused.text())).toEqual({
    problem: expect.stringContaining('is a loopback address; say that it may be on this machine'),
  });
  const answer = await fetch(`${dashboard.url}/api/a2a/send`, {
    ...{ method: 'POST', body: JSON.stringify({ ...request, loopback: true }) },
    headers: { 'content-type': 'application/json' },
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of answer.body!) {
    text += decoder.decode(part, { stream: true });
    // It has not ended yet, and its beginning is here.
    if (text.includes(token) && !text.includes('last')) end();
  }
  const told = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(told[0]).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } });
  expect(
    told
      .slice(1, -1)
      .map((line) => line.text)
      .join(''),
  ).toBe(`data: Bearer ${token}\n\ndata: last\n\n`);
  expect(told.at(-1)).toEqual({ end: { bytes: expect.any(Number), ms: expect.any(Number) } });
  expect(JSON.stringify(lines)).not.toContain(token);
}, 120_000);

it('a foreign agent is disconnected when the person leaves', async () => {
  const { dashboard } = await opened();
  let open = 0;
  const server = createServer((_, response) => {
    open += 1;
    response.write('data: first\n\n');
    response.on('close', () => (open -= 1));
  });
  const url = await listenOnLoopback(server);
  const left = new AbortController();
  const answer = await fetch(`${dashboard.url}/api/a2a/send`, {
    ...{ method: 'POST', body: JSON.stringify({ url, loopback: true, method: 'GET', path: '/' }) },
    ...{ headers: { 'content-type': 'application/json' }, signal: left.signal },
  });
  await answer.body!.getReader().read();
  expect(open).toBe(1);
  left.abort();
  await vi.waitFor(() => expect(open).toBe(0), { timeout: 20_000 });
}, 120_000);

it.each([
  [{}, 'name either an agent of the workspace or a url'],
  [{ agent: 'till', url: 'http://x.example' }, 'name either an agent of the workspace or a url'],
  [{ url: 'file:///etc/passwd' }, 'url must be an http or https URL without a password'],
  [{ url: 'http://a:b@x.example' }, 'url must be an http or https URL without a password'],
  [{ url: 'http://x.example', token: 'a\r\nX: y' }, 'token cannot be used'],
  [{ url: 'http://x.example', method: 'GET', path: '//evil' }, 'path cannot be used'],
  [{ url: 'http://x.example', method: 'PUT', path: '/' }, 'method cannot be used'],
])('a request of %j is refused', async (given, error) => {
  const { dashboard } = await opened();
  const path = 'method' in given ? '/api/a2a/send' : '/api/a2a/card';
  expect(await dashboard.post(path, given)).toMatchObject({ status: 400, body: { error } });
});

it('the dashboard does not call itself, under any name', async () => {
  const { dashboard } = await opened();
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    const url = `http://${host}:${dashboard.dashboard.port}`;
    const { body } = await dashboard.post('/api/a2a/card', { url, loopback: true });
    expect(body.cards[0].exchange.problem).toMatch(/itself/);
  }
});
