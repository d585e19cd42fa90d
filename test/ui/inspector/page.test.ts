import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { forgive, missingOf, TestBrowser } from '../../helpers/browser.ts';
import { rawRequest } from '../../helpers/raw-request.ts';
import {
  deferring,
  launchAgent,
  startTestAgent,
  type TestAgent,
} from '../../helpers/test-agent.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const secret = 'CANARY-7c1e';

function start(): Promise<TestAgent> {
  return startTestAgent(deferring(), { inspectPort: 0 });
}

/** What the list of tasks says about one. */
function pillOf(page: Page, task: string) {
  return page.locator(`[data-group="${task}"] .pill`);
}

async function waits(pill: ReturnType<typeof pillOf>, text: string): Promise<void> {
  await pill.filter({ hasText: text }).waitFor();
}

describe('the page of the inspector', () => {
  it('shows a task that is held, and how it goes on once it is released', async () => {
    const agent = await start();
    const { page } = await browser.page();
    await page.goto(agent.inspectorUrl);
    const held = agent.send('t1', [{ tool: 'pay', args: { note: secret } }, { say: secret }]);
    await waits(pillOf(page, 't1'), 'deferred');
    await page.click('[data-group="t1"]');
    expect(await page.innerText('h1')).toBe('t1');
    expect(await page.locator('[aria-current=step]').getAttribute('data-state')).toBe(
      'deferred.asked',
    );
    await agent.decide('t1', { decision: 'approve', approver: secret });
    expect((await held).status).toBe(200);
    await waits(pillOf(page, 't1'), 'completed');
    expect(await page.locator('[aria-current=step]').innerText()).toBe('completed');
    await page.fill('#filter', 'deferral.decide');
    const row = page.locator('#entries li');
    expect(await row.innerText()).toMatch(
      /outside → t1\s+deferral\.decide\s+deferred\.asked → working\.governing/,
    );
    await row.locator('summary').click();
    expect(JSON.parse(await row.locator('pre').innerText())).toMatchObject({
      event: { type: 'deferral.decide', attempt: { verb: 'approve', approver: '[redacted]' } },
      snapshot: { status: 'active' },
    });
    expect(await page.content()).not.toContain(secret);
  });

  it('finds the agent again after a restart, and keeps what it has shown', async () => {
    const folder = new AgentFolder(deferring());
    onTestFinished(() => folder.remove());
    const first = await launchAgent({}, { folder, inspectPort: 0 });
    const port = Number(new URL(first.inspectorUrl).port);
    const { page, complaints } = await browser.page();
    await page.goto(first.inspectorUrl);
    await first.send('before', [{ say: 'ok' }]);
    await waits(pillOf(page, 'before'), 'completed');
    await first.stop();
    await page.locator('#status.lost').waitFor();
    const second = await launchAgent({}, { folder, inspectPort: port });
    onTestFinished(() => second.stop());
    await page.locator('#status.connected').waitFor();
    await second.send('after', [{ say: 'ok' }]);
    await waits(pillOf(page, 'after'), 'completed');
    expect(await pillOf(page, 'before').innerText()).toBe('completed');
    expect(second.inspectorUrl).toBe(first.inspectorUrl);
    forgive(complaints, ['ERR_CONNECTION_REFUSED']);
  });

  it('stands still while it is paused, and starts from nothing once it is cleared', async () => {
    const agent = await start();
    const { page } = await browser.page();
    await page.goto(agent.inspectorUrl);
    await page.locator('#entries li').first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await agent.send('t1', [{ say: 'ok' }]);
    expect(await page.locator('[data-group="t1"]').count()).toBe(0);
    expect(await page.innerText('#count')).toMatch(/; paused$/);
    await page.getByRole('button', { name: 'Resume' }).click();
    await waits(pillOf(page, 't1'), 'completed');
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await page.locator('#entries li').count()).toBe(0);
    expect(await page.locator('#empty').isVisible()).toBe(true);
    expect(await pillOf(page, 't1').innerText()).toBe('completed');
  });

  it('takes the token out of its address, and asks for one when it was opened without', async () => {
    const agent = await start();
    const { page } = await browser.page();
    await page.goto(agent.inspectorUrl);
    await page.locator('#status.connected').waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.reload();
    await page.locator('#status.connected').waitFor();
    const other = await browser.page();
    await other.page.goto(new URL('/', agent.inspectorUrl).href);
    expect(await other.page.innerText('#status')).toBe(
      'Open the address printed by the agent printed: this one has no token.',
    );
  });

  it('says when the agent refuses its token', async () => {
    const agent = await start();
    const { page, complaints } = await browser.page();
    await page.goto(new URL('/#wrong', agent.inspectorUrl).href);
    await page.locator('#status.refused').waitFor();
    expect(await page.innerText('#status')).toBe(
      'The agent refuses this page: its token is not the one in .service/inspector.token, or eight others watch already.',
    );
    expect(await page.isVisible('#empty')).toBe(false);
    forgive(complaints, ['HTTP Authentication failed']);
  });

  it('shows whoever comes late every task, and nothing that has no name', async () => {
    const agent = await start();
    const ids = Array.from({ length: 30 }, (_, index) => `t${index}`);
    for (const id of ids) await agent.send(id, [{ say: 'ok' }]);
    const { page } = await browser.page();
    await page.goto(agent.inspectorUrl);
    for (const id of ids) await waits(pillOf(page, id), 'completed');
    const listed = await page.locator('#groups button').evaluateAll((buttons) =>
      // The types of a browser are not those of the daemon.
      buttons.map((button: any) => button.dataset.group),
    );
    expect(new Set(listed)).toEqual(new Set(['', 'deadlines', 'registry', ...ids]));
  });

  it('leaves the state and the end of the name of a task whole, however long that is', async () => {
    const agent = await start();
    for (const width of [1280, 320]) {
      const { page } = await browser.page({ width });
      await page.goto(agent.inspectorUrl);
      const id = `a-task-with-a-name-that-is-longer-than-the-list-is-wide-${width}`;
      await agent.send(id, [{ say: 'ok' }]);
      await waits(pillOf(page, id), 'completed');
      await page.click(`[data-group="${id}"]`);
      const end = page.locator(`[data-group="${id}"] .name span:last-child`);
      expect(await end.innerText()).toBe(id.slice(-5));
      for (const whole of [end, pillOf(page, id), page.locator('#standing')]) {
        // The types of a browser are not those of the daemon.
        const isWhole = await whole.evaluate((span: any) => span.scrollWidth <= span.offsetWidth);
        expect(isWhole).toBe(true);
      }
      expect(await missingOf(page)).toEqual([]);
    }
  });

  it('says that a filter finds nothing, not that nothing has happened', async () => {
    const agent = await start();
    const { page } = await browser.page();
    await page.goto(agent.inspectorUrl);
    await page.locator('[data-group=registry]').waitFor();
    await page.fill('#filter', 'no such event');
    expect(await page.innerText('#unmatched')).toBe('None of these events matches.');
    expect(await page.isVisible('#empty')).toBe(false);
  });

  it('shows markup in whatever it is told as text', async () => {
    const agent = await start();
    const { page } = await browser.page();
    const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const base = { rootId: 'x:0', sessionId: 'x:1', createdAt: '1' };
    const chart = { id: 'task', states: { [markup]: { description: markup } } };
    const event = { type: markup, tool: markup };
    const definition = JSON.stringify(chart);
    const told = [
      { ...base, id: '1', type: '@xstate.actor', name: markup, parentId: 'x:0', definition },
      { ...base, id: '2', type: '@xstate.event', event },
      {
        ...base,
        id: '3',
        type: '@xstate.snapshot',
        event,
        snapshot: { status: 'x', value: markup },
      },
    ];
    await page.routeWebSocket(/./, (socket) => {
      for (const one of told) socket.send(JSON.stringify(one));
    });
    await page.goto(agent.inspectorUrl);
    await page.locator('nav .name').getByText('<img').click();
    await page.locator('summary').click();
    expect(await page.innerText('h1')).toBe(markup);
    expect(await page.locator('.type').innerText()).toBe(markup);
    expect(await page.locator('[aria-current=step]').innerText()).toBe(markup);
    expect(await page.innerText('pre')).toContain('<img src=x');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toBe('Inspector · Holdpoint');
  });

  it.each([
    [0, 'light', 1280],
    [1, 'dark', 320],
    [50, 'light', 320],
    [50, 'dark', 1280],
  ] as const)('can be read with %i tasks, in %s at %i pixels', async (count, scheme, width) => {
    const agent = await start();
    const ids = Array.from({ length: count }, (_, index) => `t${index + 1}`);
    await Promise.all(ids.map((id) => agent.send(id, [{ say: 'ok' }])));
    const { page } = await browser.page({ scheme, width });
    await page.goto(agent.inspectorUrl);
    await page.locator('#status.connected').waitFor();
    if (count > 0) {
      await waits(page.locator('nav .pill').first(), 'completed');
      await page.locator('nav button').nth(1).click();
      await page.locator('#chart').waitFor();
    }
    expect(await missingOf(page)).toEqual([]);
    const { height = 0 } = (await page.locator('#entries').boundingBox()) ?? {};
    expect(height).toBeGreaterThan(count === 0 ? 40 : 200);
  });
});

describe('what serves it', () => {
  it('lets the page do nothing but run its own files and speak with the agent', async () => {
    const agent = await start();
    const { status, headers } = await fetch(agent.inspectorUrl);
    expect({ status, ...Object.fromEntries(headers) }).toMatchObject({
      status: 200,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it.each([
    ['GET', '/', { Host: 'evil.test' }, 403],
    ['GET', '/page.ts', { Origin: 'https://evil.test' }, 403],
    ['POST', '/', {}, 405],
    ['GET', '/nothing', {}, 404],
    ['GET', '/../main.ts', {}, 404],
    ['GET', '/%2e%2e/main.ts', {}, 404],
    ['GET', '/page.ts', {}, 200],
  ])('answers %s %s with %j as %i', async (method, path, headers, status) => {
    const agent = await start();
    const { host } = new URL(agent.inspectorUrl);
    const lines = Object.entries({ Host: host, Connection: 'close', ...headers });
    const head = [
      `${method} ${path} HTTP/1.1`,
      ...lines.map(([name, value]) => `${name}: ${value}`),
    ];
    const answer = await rawRequest(`http://${host}`, `${head.join('\r\n')}\r\n\r\n`);
    expect(answer.status).toBe(status);
  });
});
