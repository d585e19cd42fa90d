import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBrowser } from '../../helpers/browser.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { openDashboard, type TestDashboard } from '../../helpers/test-dashboard.ts';
import { WorkspaceAgent } from '../../helpers/workspace-agents.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch(['evil.test']);
});
afterAll(() => browser.close());

/** A dashboard with an agent that does not run: any change that gets through starts it. */
async function openStopped(): Promise<{ dashboard: TestDashboard; agent: WorkspaceAgent }> {
  let agent!: WorkspaceAgent;
  const dashboard = await openDashboard((workspace) => {
    agent = new WorkspaceAgent(workspace, 'till', {});
  });
  return { dashboard, agent };
}

/** A page of another site, on another port of this machine. */
async function openElsewhere(host = '127.0.0.1'): Promise<Page> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><html lang="en"><title>elsewhere</title><body></body></html>');
  });
  const url = new URL(await listenOnLoopback(server));
  url.hostname = host;
  const { page } = await browser.page({ isOwn: false });
  await page.goto(url.href);
  return page;
}

async function status(dashboard: TestDashboard): Promise<string> {
  return (await dashboard.get('/api/agents/till')).body.status;
}

const json = { 'content-type': 'application/json' };

describe('a page on another port (WEB-2, WEB-3)', () => {
  it.each<[string, (page: Page, url: string) => Promise<unknown>]>([
    [
      'a simple POST',
      (page, url) =>
        page.evaluate((to) => fetch(to, { method: 'POST', mode: 'no-cors', body: '{}' }), url),
    ],
    [
      'a form',
      (page, url) =>
        page.evaluate((to) => {
          const { document } = globalThis as any;
          const form = document.createElement('form');
          Object.assign(form, { method: 'POST', action: to, enctype: 'text/plain' });
          const field = document.createElement('input');
          Object.assign(field, { name: '{"a":"', value: '"}' });
          form.append(field);
          document.body.append(form);
          form.submit();
        }, url),
    ],
    [
      'a beacon',
      (page, url) => page.evaluate((to) => (globalThis as any).navigator.sendBeacon(to, '{}'), url),
    ],
    [
      'an image',
      (page, url) =>
        page.evaluate((to) => {
          const { document, Image } = globalThis as any;
          document.body.append(Object.assign(new Image(), { src: to }));
        }, url),
    ],
  ])('changes nothing with %s', async (_, attack) => {
    const { dashboard, agent } = await openStopped();
    const page = await openElsewhere();
    const url = `${dashboard.url}/api/agents/till/start`;
    // What it is answered is kept from the page, which the browser calls a failure.
    const answered = Promise.race([
      page.waitForEvent('requestfailed', (request) => request.url() === url),
      page.waitForEvent('response', (response) => response.url() === url),
    ]);
    await attack(page, url).catch(() => undefined);
    await answered;
    expect([await status(dashboard), agent.pid]).toEqual(['stopped', null]);
  });

  it('neither sends JSON nor reads an answer', async () => {
    const { dashboard, agent } = await openStopped();
    const page = await openElsewhere();
    const tried = await page.evaluate(
      ([url, headers]) =>
        Promise.all([
          fetch(`${url}/api/agents/till/start`, { method: 'POST', headers, body: '{}' }).catch(
            String,
          ),
          fetch(`${url}/api/agents`).catch(String),
          fetch(`${url}/api/events`).catch(String),
        ]),
      [dashboard.url, json] as const,
    );
    expect(tried).toEqual(Array(3).fill('TypeError: Failed to fetch'));
    expect([await status(dashboard), agent.pid]).toEqual(['stopped', null]);
  });

  it('cannot frame the dashboard', async () => {
    const { dashboard } = await openStopped();
    const page = await openElsewhere();
    await page.evaluate((to) => {
      const { document } = globalThis as any;
      return new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.addEventListener('load', resolve);
        frame.src = to;
        document.body.append(frame);
      });
    }, `${dashboard.url}/`);
    const framed = page.frames().find((frame) => frame.parentFrame() !== null);
    expect(framed?.url()).not.toContain(dashboard.url);
    expect(await framed?.getByText('till').count()).toBe(0);
  });
});

describe('a page with a rebound host name (WEB-1)', () => {
  it('is refused for every request, including the page itself', async () => {
    const { dashboard, agent } = await openStopped();
    const page = await openElsewhere('evil.test');
    const here = `http://evil.test:${dashboard.dashboard.port}`;
    const opened = await page.goto(`${here}/`);
    expect([opened?.status(), await opened?.json()]).toEqual([
      403,
      { error: 'forbidden_host', code: 'forbidden_host' },
    ]);
    // From here on it is of the same origin as what it asks for.
    const statuses = await page.evaluate(
      (headers) =>
        Promise.all([
          fetch('/api/agents').then(({ status }) => status),
          fetch('/api/events').then(({ status }) => status),
          fetch('/api/agents/till/start', { method: 'POST', headers, body: '{}' }).then(
            ({ status }) => status,
          ),
        ]),
      json,
    );
    expect(statuses).toEqual([403, 403, 403]);
    expect([await status(dashboard), agent.pid]).toEqual(['stopped', null]);
  });
});
