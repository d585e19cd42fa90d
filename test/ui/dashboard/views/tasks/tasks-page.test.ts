import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskRowJson } from '../../../../../src/http/wire/dashboard/task-row-json.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { everyLook, faultsOf, narrow } from '../../../../helpers/faults-of.ts';
import { listedAgent, listedTask, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { type PageServer, servePage } from '../../../../helpers/serve-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

/** Serves the page with the tasks of each agent, newest first, in pages and filtered as the server does. */
function serveTasks(
  tasks: Record<string, TaskRowJson[]>,
  asked: string[] = [],
): Promise<PageServer> {
  return servePage(
    workspaceApi(
      Object.keys(tasks).map((id) => listedAgent(id)),
      (url) => {
        const [, id] = /^\/api\/agents\/([^/]+)\/tasks$/.exec(url.pathname) ?? [];
        if (id === undefined) return undefined;
        asked.push(`${id} ${url.searchParams}`);
        const state = url.searchParams.get('state');
        const all = (tasks[id] ?? []).filter((task) => state === null || task.state === state);
        const from = Number(url.searchParams.get('cursor') ?? 0);
        const end = from + Number(url.searchParams.get('limit'));
        return {
          tasks: all.slice(from, end),
          ...(end < all.length ? { next_cursor: String(end) } : {}),
        };
      },
    ),
  );
}

const some = (count: number, parts: Partial<TaskRowJson> = {}) =>
  Array.from({ length: count }, (_, number) => listedTask(number, parts));

const rows = (page: Page) => page.locator('main li a');

describe('the list of tasks', () => {
  it('puts the tasks of all agents into one order, newest first', async () => {
    const server = await serveTasks({
      one: [listedTask(0), listedTask(2)],
      two: [listedTask(1, { id: 'u-1', state: 'deferred', tool: 'pay' })],
    });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks`);
    await rows(page).nth(2).waitFor();
    expect(await rows(page).evaluateAll((all: any[]) => all.map((row) => row.hash))).toEqual([
      '#/tasks/one/t-0',
      '#/tasks/two/u-1',
      '#/tasks/one/t-2',
    ]);
    expect(await rows(page).nth(1).innerText()).toMatch(/held[\s\S]+pay waits[\s\S]+two/);
  });

  it('keeps its filter in the address', async () => {
    const asked: string[] = [];
    const tasks = [listedTask(0), listedTask(1, { state: 'failed' })];
    const server = await serveTasks({ one: tasks, two: [] }, asked);
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks?workflow_execution_id=wx-1`);
    await rows(page).first().waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('failed');
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('one');
    await expect.poll(() => rows(page).count(), { timeout: 20_000 }).toBe(1);
    await expect
      .poll(() => new URL(page.url()).hash, { timeout: 20_000 })
      .toBe('#/tasks?state=failed&workflow_execution_id=wx-1&agent=one');
    expect(asked.at(-1)).toBe('one state=failed&workflow_execution_id=wx-1&limit=100');
    await page.reload();
    await rows(page).first().waitFor();
    expect(await page.getByRole('combobox', { name: 'State' }).inputValue()).toBe('failed');
    await page.getByRole('link', { name: 'Show all' }).click();
    await expect.poll(() => rows(page).count(), { timeout: 20_000 }).toBe(2);
  });

  it('requests the tasks of a range in the zone of the browser', async () => {
    const asked: string[] = [];
    const server = await serveTasks({ one: [listedTask(0)] }, asked);
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks`);
    await rows(page).first().waitFor();
    await page.getByRole('combobox', { name: 'Time' }).selectOption('between …');
    await page.getByLabel('From').fill('2026-07-01T09:00');
    const time = await page.evaluate(() => new Date('2026-07-01T09:00').toISOString());
    const query = String(new URLSearchParams({ from: time }));
    await expect.poll(() => asked.at(-1), { timeout: 20_000 }).toBe(`one ${query}&limit=100`);
    expect(new URL(page.url()).hash).toBe(`#/tasks?${query}`);
    const zone = await page.evaluate(() => new Intl.DateTimeFormat().resolvedOptions().timeZone);
    await page.locator('form').getByText(zone, { exact: true }).waitFor();
    await page.getByLabel('From').fill('');
    await expect.poll(() => new URL(page.url()).hash, { timeout: 20_000 }).toBe('#/tasks');
  });

  it('is navigated with j and k, and restored as it was left', async () => {
    const server = await serveTasks({ one: some(200) });
    const { page, complaints } = await browser.page();
    await page.goto(`${server.url}/#/tasks`);
    await rows(page).first().waitFor();
    for (const key of ['j', 'j', 'j', 'k']) {
      await page.keyboard.press(key);
      await page.locator('main li a:focus').waitFor();
    }
    expect(await page.evaluate('document.activeElement.hash')).toBe('#/tasks/one/t-1');
    for (let row = 2; row <= 30; row += 1) {
      await page.keyboard.press('j');
      await page.waitForFunction(`document.activeElement.hash === '#/tasks/one/t-${row}'`);
    }
    const top = await page.locator('main .rows').evaluate((list: any) => list.scrollTop);
    expect(top).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await page.waitForFunction(`location.hash === '#/tasks/one/t-30'`);
    await page.goBack();
    await rows(page).first().waitFor();
    expect(await page.locator('main .rows').evaluate((list: any) => list.scrollTop)).toBe(top);
    // The server of this test has no page of a task.
    forgive(complaints, ['404']);
    await page.getByLabel('Workflow execution').press('j');
    expect(await page.getByLabel('Workflow execution').inputValue()).toBe('j');
  });

  it('shows a change at once', async () => {
    const tasks = [listedTask(1)];
    const server = await serveTasks({ one: tasks });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks`);
    await rows(page).first().waitFor();
    tasks.unshift(listedTask(0, { id: 'new', state: 'working' }));
    server.push('task', { agent_id: 'one', task: listedTask(0, { id: 'new', state: 'working' }) });
    await page.getByText('new', { exact: true }).waitFor();
    expect(await rows(page).first().innerText()).toMatch(/^working/);
    const done = listedTask(0, { id: 'new', changed_at: '2027-01-01T00:00:00.000Z' });
    server.push('task', { agent_id: 'one', task: done });
    await expect
      .poll(() => rows(page).first().innerText(), { timeout: 20_000 })
      .toMatch(/^completed/);
    expect(await rows(page).count()).toBe(2);
  });

  it('continues where a page of a filtered list is empty', async () => {
    const server = await servePage(
      workspaceApi([listedAgent('one')], (url) => {
        if (url.pathname !== '/api/agents/one/tasks') return undefined;
        const from = Number(url.searchParams.get('cursor') ?? 0);
        const tasks = from === 3 ? [listedTask(3, { state: 'deferred', tool: 'pay' })] : [];
        return from === 5 ? { tasks } : { tasks, next_cursor: String(from + 1) };
      }),
    );
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks?tool=pay`);
    await rows(page).first().waitFor();
    await page.getByText('1 task', { exact: true }).waitFor();
    expect(await rows(page).count()).toBe(1);
  });

  it('keeps its rows and position when it is read again after a gap in the stream', async () => {
    const asked: string[] = [];
    const server = await serveTasks({ one: some(2_000) }, asked);
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks`);
    await rows(page).first().waitFor();
    const list = page.locator('main .rows');
    await expect
      .poll(
        async () => {
          await list.evaluate((element: any) => (element.scrollTop = 40_000));
          return list.evaluate((element: any) => element.scrollTop);
        },
        { timeout: 60_000 },
      )
      .toBe(40_000);
    const before = await page.innerText('main header p');
    const reads = asked.length;
    server.push('reset', {});
    await expect.poll(() => asked.slice(reads).at(0), { timeout: 20_000 }).toBe('one limit=100');
    await expect.poll(() => asked.slice(reads).length, { timeout: 20_000 }).toBeGreaterThan(1);
    expect(await list.evaluate((element: any) => element.scrollTop)).toBe(40_000);
    expect(await page.innerText('main header p')).toBe(before);
  });

  it('draws only the visible rows, for any number', async () => {
    const server = await serveTasks({ one: some(5_000), two: some(5_000, { requester: null }) });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks`);
    await rows(page).first().waitFor();
    const list = page.locator('main .rows');
    await expect
      .poll(
        async () => {
          await list.evaluate((element: any) => (element.scrollTop = element.scrollHeight));
          return page.innerText('main header p');
        },
        { timeout: 60_000 },
      )
      .toBe('10,000 tasks');
    await list.evaluate((element: any) => (element.scrollTop = element.scrollHeight));
    await page.locator('main li a[href="#/tasks/one/t-4999"]').waitFor();
    expect(await rows(page).count()).toBeLessThan(60);
    const heap = await page.evaluate('performance.memory.usedJSHeapSize');
    expect(heap).toBeLessThan(150 * 1024 * 1024);
  });

  it('states the next step where it is empty', async () => {
    const server = await serveTasks({ one: [] });
    const none = await serveTasks({});
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks`);
    await page.getByText('No tasks yet.').waitFor();
    expect(await page.innerText('main code')).toBe(
      'holdpoint task send --dir /agents/one "Please refund order A-1042"',
    );
    await page.goto(`${server.url}/#/tasks?state=failed`);
    await page.getByText('No matching tasks.').waitFor();
    await page.goto(`${none.url}/#/tasks`);
    await page.getByText('No agent is running').waitFor();
    expect(await page.innerText('main code')).toBe('holdpoint serve start --dir .');
  });

  it('shows the text of others as text', async () => {
    const evil = '<img src=x onerror="document.title=1">\u202egnp';
    const server = await serveTasks({
      one: [listedTask(0, { title: evil, requester: evil, tool: evil })],
    });
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks`);
    await rows(page).first().waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await rows(page).first().innerText()).toContain('<img src=x');
    expect(await page.innerText('main')).not.toContain('\u202e');
  });

  it('is accessible', async () => {
    const tasks = ['deferred', 'working', 'failed', 'canceled', 'completed'].map((state, number) =>
      listedTask(number, { state, ...(state === 'deferred' ? { tool: 'pay' } : {}) }),
    );
    const server = await serveTasks({ one: tasks });
    const { page } = await browser.page(narrow);
    await page.goto(`${server.url}/#/tasks`);
    await rows(page).first().waitFor();
    expect(await faultsOf(page, everyLook)).toEqual([]);
  });
});
