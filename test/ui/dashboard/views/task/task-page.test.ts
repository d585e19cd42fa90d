import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { TaskDetailJson } from '../../../../../src/http/wire/dashboard/task-detail-json.ts';
import { logOf } from '../../../../actors/records/log/log-of.ts';
import { axeFindings } from '../../../../helpers/axe-findings.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { everyLook, faultsOf, narrow } from '../../../../helpers/faults-of.ts';
import { detailOf, listedAgent, listedTask, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { servePage } from '../../../../helpers/serve-page.ts';
import { answerLog, type ServedLog } from '../../../../helpers/served-log.ts';
import { taskStories } from '../../../../helpers/task-stories.ts';
import { deferring, launchAgent, type TestAgent } from '../../../../helpers/test-agent.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

/** Serves the page with one task, which `read` tells of anew each time. */
function serveTask(id: string, read: () => Promise<TaskDetailJson> | TaskDetailJson) {
  const path = `/api/agents/refunds/tasks/${id}`;
  return servePage(
    workspaceApi([listedAgent('refunds')], (url) => {
      if (url.pathname === path) return read();
      return url.pathname === `${path}/cancel` ? {} : undefined;
    }),
  );
}

async function heldTask(): Promise<{ agent: TestAgent; answered: Promise<unknown> }> {
  const agent = await launchAgent(deferring());
  onTestFinished(() => agent.close());
  const answered = agent.send('t1', script);
  await agent.reached('t1', 'deferred');
  return { agent, answered };
}

function current(page: Page) {
  return page.locator('[data-state][aria-current=true]').getAttribute('data-state');
}

function taken(page: Page): Promise<string[]> {
  return page
    .locator('[data-arrow].taken')
    .evaluateAll((lines: any[]) =>
      lines
        .map((line) => String(line.getAttribute('data-arrow')))
        .sort((one, other) => (one < other ? -1 : 1)),
    );
}

const wayToAsked = [
  'submitted working',
  'working.governing deferred',
  'working.thinking working.governing',
];

describe('the page of a task', () => {
  it('highlights the state of a held task, and continues with it', async () => {
    const { agent, answered } = await heldTask();
    const server = await serveTask('t1', () => detailOf(agent, 't1'));
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks/refunds/t1`);
    await page.locator('[data-state="deferred.asked"][aria-current=true]').waitFor();
    expect(await current(page)).toBe('deferred.asked');
    const around = page.locator('[data-region][aria-current=true]');
    expect(await around.getAttribute('data-region')).toBe('deferred');
    expect(await taken(page)).toEqual(wayToAsked);
    expect(await page.locator('header .wait p').innerText()).toMatch(
      /^Waiting for .+, because rule defer\.tools\.pay holds it\.$/,
    );
    expect(await page.getByRole('link', { name: 'Decide …' }).getAttribute('href')).toBe(
      '#/approvals/refunds/t1',
    );
    await agent.decide('t1', { decision: 'approve' });
    await answered;
    server.push('task', { agent_id: 'refunds', task: listedTask(1, { id: 't1' }) });
    await page.locator('[data-state="completed"][aria-current=true]').waitFor();
    expect(await taken(page)).toEqual([
      'deferred working.governing',
      'submitted working',
      'working.executing working.thinking',
      'working.executing.calling working.executing.recording',
      'working.governing deferred',
      'working.governing working.executing',
      'working.thinking completed',
      'working.thinking working.governing',
    ]);
    expect(await page.locator('header .wait').count()).toBe(0);
  });

  it('shows the rulings on the call in the documented order', async () => {
    const { agent } = await heldTask();
    const server = await serveTask('t1', () => detailOf(agent, 't1'));
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks/refunds/t1`);
    const rows = page.locator('[data-layer]');
    await rows.first().waitFor();
    expect(
      await rows.evaluateAll((all: any[]) =>
        all.map((row) =>
          [row.dataset.layer, row.querySelector('.verdict').textContent.trim()].join(': '),
        ),
      ),
    ).toEqual([
      'Intent: allow',
      'Assurance: allow',
      'Modify: allow',
      'Approval: hold',
      'Run: not yet',
    ]);
  });

  it('looks back without a run, and shows the cause of a state', async () => {
    const { agent } = await heldTask();
    const server = await serveTask('t1', () => detailOf(agent, 't1'));
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks/refunds/t1`);
    await page.locator('[data-state="deferred.asked"][aria-current=true]').waitFor();
    const slider = page.getByRole('slider', { name: 'Step' });
    await slider.focus();
    await page.keyboard.press('Home');
    expect(await current(page)).toBe('submitted');
    expect(await taken(page)).toEqual([]);
    await page.keyboard.press('ArrowRight');
    expect(await current(page)).toBe('working.thinking');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^step 2 of 4, thinking at /);
    await page.getByRole('button', { name: 'Now' }).click();
    expect(await current(page)).toBe('deferred.asked');
    await page.locator('[data-state="working.governing"]').focus();
    await page.keyboard.press('Enter');
    const happened = page.locator('section:has(#happened)');
    expect(await happened.locator('li p').allInnerTexts()).toEqual([
      expect.stringMatching(/^Model requested pay/),
    ]);
    await page.keyboard.press('Enter');
    expect(await happened.locator('li').count()).toBe(agent.audit('t1').length);
    expect(server.changes).toEqual([]);
  });

  it('opens at the step of its address, shows its state then, and follows the keys', async () => {
    const story = taskStories(Date.now()).find(({ id }) => id === 'refund-2')!;
    const words = (role: string, text: string) => ({ role, parts: [{ kind: 'text', text }] });
    const task = {
      history: [words('user', 'Refund it, please'), words('agent', 'It is refunded')],
    };
    const server = await serveTask('refund-2', () => ({ ...story, task }));
    const { page } = await browser.page();
    const address = `${server.url}/#/tasks/refunds/refund-2`;
    await page.goto(`${address}?step=8`);
    await page.locator('[data-state="deferred.asked"][aria-current=true]').waitFor();
    const said = page.locator('section:has(#transcript)');
    const kinds = () =>
      said
        .locator('[data-said]')
        .evaluateAll((all: any[]) => all.map((one) => one.dataset.said).join(' '));
    expect(await kinds()).toBe('message turn call result turn');
    expect(await said.innerText()).not.toContain('It is refunded');
    expect(await page.locator('.then').innerText()).toMatch(
      /^Then issue_refund waited .+; no approvals/,
    );
    expect(await page.locator('section:has(#happened)').innerText()).not.toContain('approved');
    const newest = page.locator('section:has([data-layer])').first();
    expect((await newest.locator('.verdict').allInnerTexts()).join(' ')).toBe(
      'allow allow modify hold not yet',
    );
    await page.getByRole('slider', { name: 'Step' }).focus();
    await page.keyboard.press('ArrowLeft');
    expect(page.url()).toBe(`${address}?step=7`);
    await page.keyboard.press('Home');
    expect(page.url()).toBe(`${address}?step=1`);
    expect(await kinds()).toBe('message');
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('End');
    expect(page.url()).toBe(address);
    expect(await said.innerText()).toContain('It is refunded');
    expect(server.changes).toEqual([]);
  });

  it('cancels with a reason, and shows the command for it', async () => {
    const { agent } = await heldTask();
    const server = await serveTask('t1', () => detailOf(agent, 't1'));
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks/refunds/t1`);
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page.getByLabel('Reason').fill("it's late");
    expect(await page.locator('dialog code').innerText()).toBe(
      `holdpoint task cancel t1 --reason 'it'\\''s late' --dir /agents/refunds`,
    );
    await page.getByRole('button', { name: 'Cancel task' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(server.changes).toEqual([
      `POST /api/agents/refunds/tasks/t1/cancel {"reason":"it's late"}`,
    ]);
  });

  it('keeps the scroll position, and the selection, when the task continues', async () => {
    const { agent } = await heldTask();
    let reads = 0;
    const server = await serveTask('t1', () => {
      reads += 1;
      return detailOf(agent, 't1');
    });
    const { page } = await browser.page({ height: 400 });
    await page.goto(`${server.url}/#/tasks/refunds/t1`);
    await page.locator('[data-state="submitted"]').click();
    await page.evaluate('scrollTo(0, 200)');
    const before = reads;
    server.push('task', { agent_id: 'refunds', task: listedTask(1, { id: 't1' }) });
    await expect.poll(() => reads, { timeout: 20_000 }).toBeGreaterThan(before);
    expect(await page.evaluate('scrollY')).toBe(200);
    expect(await page.locator('[data-state="submitted"]').getAttribute('aria-pressed')).toBe(
      'true',
    );
  });

  it.each([
    ['refund-1', 'deferred.asked', 'allow allow modify hold not yet'],
    ['refund-2', 'completed', 'allow allow modify hold allow ran allow'],
    ['refund-3', 'failed', 'allow allow modify hold not asked'],
    ['refund-4', 'failed', 'deny not asked not asked not asked not asked'],
  ])('shows how %s became %s', async (id, state, verdicts) => {
    const story = taskStories(Date.now()).find((task) => task.id === id);
    const server = await serveTask(id, () => story ?? Promise.reject(new Error(`no ${id}`)));
    const { page } = await browser.page({ scheme: 'dark' });
    await page.goto(`${server.url}/#/tasks/refunds/${id}`);
    await page.locator(`[data-state="${state}"][aria-current=true]`).waitFor();
    const newest = page.locator('section:has([data-layer])').first();
    expect((await newest.locator('.verdict').allInnerTexts()).join(' ')).toBe(verdicts);
    const happened = page.locator('section:has(#happened) li');
    expect(await happened.count()).toBe(story?.timeline.length);
    expect(await page.locator('dl').allInnerTexts()).toEqual(
      story?.decisions.some(({ changes }) => changes !== undefined) === true
        ? [expect.stringMatching(/^amount\s+899\s+89\.9$/)]
        : [],
    );
    expect(await axeFindings(page)).toEqual([]);
  });

  it('shows the text of others as text', async () => {
    const { agent } = await heldTask();
    const evil = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202egnp';
    const server = await serveTask('t1', async () => {
      const detail = await detailOf(agent, 't1');
      return {
        ...detail,
        title: evil,
        requester: evil,
        task: { evil },
        timeline: detail.timeline.map((entry) => ({ ...entry, fields: { tool: evil, to: evil } })),
        decisions: detail.decisions.map((said) => ({ ...said, tool: evil, reason: evil })),
      };
    });
    const { page } = await browser.page();
    for (const view of ['', '?view=timeline', '?view=raw']) {
      await page.goto(`${server.url}/#/tasks/refunds/t1${view}`);
      await page.locator('main .card').first().waitFor();
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await page.innerText('h1')).toContain('<img src=x');
      expect(await page.innerText('main')).toContain('U+202E');
      expect(await page.innerText('main')).not.toContain('\u202e');
    }
  });

  it('states the remedy for a missing task', async () => {
    const server = await serveTask('t1', () => Promise.reject(new Error('unread')));
    const { page, complaints } = await browser.page();
    await page.goto(`${server.url}/#/tasks/refunds/t2`);
    await page.locator('[role=alert]').waitFor();
    expect(await page.innerText('[role=alert]')).toContain('task not found');
    expect(await page.innerText('main code')).toBe('holdpoint task get t2 --dir /agents/refunds');
    forgive(complaints, ['404']);
  });

  it('is not read while its agent is known not to run, and is read again when it does', async () => {
    const story = taskStories(Date.now())[0]!;
    const agents = [listedAgent('refunds')];
    const path = `/api/agents/refunds/tasks/${story.id}`;
    const refused: string[] = [];
    let title = 'As it was';
    const server = await servePage(
      workspaceApi(agents, ({ pathname }) => {
        if (pathname !== path) return undefined;
        if (agents[0]?.status === 'running') return { ...story, title };
        refused.push(pathname);
        return Response.json({ error: 'the agent refunds is not running' }, { status: 400 });
      }),
    );
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/tasks/refunds/${story.id}`);
    const heading = page.getByRole('heading', { level: 1 });
    await heading.getByText('As it was').waitFor();
    // The page receives the stop before everything is read anew, as it does after a gap in its stream.
    const stopped = listedAgent('refunds', { status: 'stopped' });
    server.push('agent_status', stopped);
    await page.getByRole('link', { name: 'refunds stopped' }).waitFor();
    agents.splice(0, 1, stopped);
    server.push('reset', {});
    await page.getByRole('alert').getByText('refunds is not running').waitFor();
    expect(await heading.innerText()).toBe('As it was');
    title = 'Current';
    agents.splice(0, 1, listedAgent('refunds'));
    server.push('reset', {});
    await heading.getByText('Current').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    expect(refused).toEqual([]);
  });

  it('is accessible', async () => {
    const { agent } = await heldTask();
    const server = await serveTask('t1', () => detailOf(agent, 't1'));
    const { page } = await browser.page(narrow);
    for (const view of ['', '?view=timeline', '?view=raw']) {
      await page.goto(`${server.url}/#/tasks/refunds/t1${view}`);
      await page.locator('main .card').first().waitFor();
      expect(await faultsOf(page, everyLook)).toEqual([]);
    }
  });

  it('shows whether the log around the task is intact, and leads to the line', async () => {
    const story = taskStories(Date.now())[0]!;
    const logged = (n: number) => ({ event: 'llm_call', ts: '', task_id: 'other', fields: { n } });
    const { lines } = logOf(Array.from({ length: 60 }, (_, index) => logged(index)));
    const log: ServedLog = { lines };
    const detail = {
      ...story,
      timeline: story.timeline
        .slice(0, 3)
        .map((entry, index) => ({ ...entry, line: 20 + index * 5 })),
    };
    const server = await servePage(
      workspaceApi([listedAgent('refunds')], (url) =>
        url.pathname === `/api/agents/refunds/tasks/${story.id}`
          ? detail
          : answerLog(url, 'refunds', log),
      ),
    );
    const { page } = await browser.page();
    const note = page.getByRole('status').filter({ hasText: 'of the log' });
    const visit = async (): Promise<void> => {
      await page.goto('about:blank');
      await page.goto(`${server.url}/#/tasks/refunds/${story.id}`);
    };
    await visit();
    await note.getByText('chain intact').waitFor();
    expect(await note.getByRole('link').getAttribute('href')).toBe('#/audit/refunds?line=20');
    log.lines = lines.with(24, (lines[24] ?? '').replace('"n":24', '"n":42'));
    await visit();
    await note.getByText('chain broken').waitFor();
    await note.getByRole('link').click();
    await page.locator('[data-line="25"][aria-current]').waitFor();
    log.lines = lines.with(39, (lines[39] ?? '').replace('"n":39', '"n":93'));
    await visit();
    await note.getByText('chain intact').waitFor();
  });
});
