import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { evilTexts } from '../../../../helpers/evil-texts.ts';
import { listedAgent, listedTask, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { servePage } from '../../../../helpers/serve-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

it('the page stays fast with a run of a thousand changing tasks', async () => {
  const flow = (number: number) => ({
    workflow_id: 'refunds',
    workflow_execution_id: 'big',
    stage_id: `stage-${number % 5}`,
    step_id: `step-${number % 50}`,
  });
  const tasks = Array.from({ length: 1_000 }, (_, number) =>
    listedTask(number, {
      workflow: flow(number),
      state: number % 3 === 0 ? 'working' : 'completed',
    }),
  );
  const server = await servePage(
    workspaceApi([listedAgent('one')], (url) => {
      if (url.pathname !== '/api/agents/one/tasks') return undefined;
      const from = Number(url.searchParams.get('cursor') ?? 0);
      const end = from + Number(url.searchParams.get('limit'));
      const more = end < tasks.length ? { next_cursor: String(end) } : {};
      return { tasks: tasks.slice(from, end), ...more };
    }),
  );
  const { page } = await browser.page();
  await page.goto(`${server.url}/#/workflows`);
  await page.getByText('666 of 1000 done').waitFor();
  expect(await page.locator('details li').count()).toBe(1_000);
  for (let number = 0; number < 300; number += 3) {
    const task = { ...tasks[number]!, state: 'completed', changed_at: new Date().toISOString() };
    server.push('task', { agent_id: 'one', task });
  }
  await page.getByText('766 of 1000 done').waitFor();
  // Frames that took so long that a person would see them: a slow machine has some, a page that is stuck has few frames.
  const frames = await page.evaluate(async () => {
    const { requestAnimationFrame, scrollBy, performance } = globalThis as any;
    const begun = performance.now();
    let count = 0;
    while (performance.now() - begun < 1_000) {
      scrollBy(0, 40);
      await new Promise((resolve) => requestAnimationFrame(resolve));
      count += 1;
    }
    return count;
  });
  expect(frames).toBeGreaterThan(5);
});

it('the identifiers of callers are shown as text', async () => {
  const tasks = evilTexts.map((text, number) =>
    listedTask(number, {
      title: text,
      workflow: { workflow_id: text, workflow_execution_id: text, stage_id: text, step_id: text },
    }),
  );
  const server = await servePage(
    workspaceApi([listedAgent('one')], (url) =>
      url.pathname === '/api/agents/one/tasks' ? { tasks } : undefined,
    ),
  );
  const { page } = await browser.page();
  await page.goto(`${server.url}/#/workflows`);
  await page.locator('details').first().waitFor();
  const closed = page.locator('details:not([open]) > summary');
  while ((await closed.count()) > 0) await closed.first().click();
  expect(await page.locator('main').textContent()).toContain('document.title=1');
  const odd = 'main :is(img, script, iframe, style, base, meta, object, a:not([href^="#/"]))';
  expect(await page.locator(odd).count()).toBe(0);
});
