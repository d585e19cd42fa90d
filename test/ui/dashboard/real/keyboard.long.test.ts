import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdpointHere } from '../../../cli/command-here.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { focused, Shared, tabTo } from './real-page.ts';

const shared = new Shared();
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;

beforeAll(async () => {
  agent = new WorkspaceAgent(shared.workspace, 'till', deferring(), shared.later);
  dashboard = await shared.open();
  await agent.start(dashboard);
});
afterAll(() => shared.close());

async function look(route = '', prepare: (page: Page) => Promise<void> = async () => undefined) {
  const opened = await shared.browser.page();
  await prepare(opened.page);
  await opened.page.goto(`${dashboard.url}/${route}`);
  await opened.page.locator('main h1').waitFor();
  return opened.page;
}

/** Notes when the button that approves comes, and when it first takes a click. */
async function watchApprove(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { document, MutationObserver, performance } = globalThis as any;
    const seen: { came?: number; open?: number } = {};
    (globalThis as any).approve = seen;
    new MutationObserver(() => {
      const button = document.querySelector('[data-key=a]');
      if (button === null) return;
      seen.came ??= performance.now();
      if (!button.disabled) seen.open ??= performance.now();
    }).observe(document, { subtree: true, childList: true, attributes: true });
  });
}

describe('a user without a mouse', () => {
  it('decides calls, which ignore keys for other elements', async () => {
    const first = await agent.hold(dashboard, 'k1');
    const page = await look('', watchApprove);
    await eventually(async () => expect(await page.title()).toBe('(1) Agents · Holdpoint'));
    await tabTo(page, /^Approvals/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'pay', exact: true }).waitFor();
    await eventually(async () => expect(await focused(page)).toBe('Approvals'));
    await page.locator('[data-key=a]').and(page.locator(':enabled')).waitFor();
    const { came, open } = await page.evaluate(() => (globalThis as any).approve);
    // Half a second, counted from when it was seen.
    expect(open - came).toBeGreaterThan(495);
    await tabTo(page, 'Approve');
    await page.keyboard.press('Enter');
    await first.answered;
    await eventually(async () => expect(await page.title()).toBe('Approvals · Holdpoint'));
    const second = await agent.hold(dashboard, 'k2');
    await page.locator('[data-key=a]').and(page.locator(':enabled')).waitFor();
    expect(await focused(page)).not.toBe('Approve');
    await page.keyboard.press('a');
    expect(await focused(page)).not.toBe('Approve');
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await page.keyboard.type('not today');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(JSON.stringify((await second.answered).body)).toContain('not today');
    expect(agent.folder.paid).toHaveLength(1);
  });

  it('edits a configuration, and leaves the editor with Tab', async () => {
    const page = await look();
    await tabTo(page, 'Config');
    await page.keyboard.press('Enter');
    await page.getByText('No problems found.').waitFor();
    await tabTo(page, 'service.yaml of till');
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('\n');
    await page.getByText('unsaved').waitFor();
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByText('unsaved').waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    expect(await focused(page)).not.toBe('service.yaml of till');
    await page.keyboard.press('Shift+Tab');
    await eventually(async () => expect(await focused(page)).toBe('service.yaml of till'));
  });

  it('gets the focus back when a dialog closes', async () => {
    const { answered } = await agent.hold(dashboard, 'k3');
    const page = await look('#/tasks/till/k3');
    await page.locator('[data-state="deferred.asked"]').waitFor();
    await tabTo(page, 'Cancel …');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Cancel …');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await focused(page)).toMatch(/^Reason/);
    await page.keyboard.type('not needed');
    await page.keyboard.press('Enter');
    expect((await answered).body.status.state).toBe('canceled');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).not.toBe('');
  });
});

describe('a dialog', () => {
  it.each(['Escape', 'a button'])('closed by %s stays open for the next key', async (by) => {
    const id = `k-${by.replace(' ', '-')}`;
    const { answered } = await agent.hold(dashboard, id);
    const page = await look(`#/tasks/till/${id}`);
    const cancel = page.getByRole('button', { name: 'Cancel …' });
    await cancel.click();
    await page.getByRole('dialog').waitFor();
    await cancel.evaluate(async (button, way) => {
      const { document, requestAnimationFrame } = globalThis as any;
      const dialog = document.querySelector('dialog');
      if (way === 'Escape') dialog.requestClose();
      else dialog.querySelector('.quiet').click();
      // What the page does at once it does before the next key; what the browser tells later comes after it.
      await Promise.resolve();
      (button as any).click();
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    }, by);
    await page.getByRole('button', { name: 'Cancel task' }).click({ timeout: 5_000 });
    expect((await answered).body.status.state).toBe('canceled');
  });
});

describe('a waiting call', () => {
  it('is decided by the shown command, run unchanged', async () => {
    const { answered } = await agent.hold(dashboard, 'c1');
    const page = await look('#/approvals/till/c1');
    await page.getByText('Command', { exact: true }).click();
    const shown = page.locator('main code', { hasText: 'holdpoint task approve' });
    const [program, ...words] = (await shown.innerText()).split(' ');
    expect(program).toBe('holdpoint');
    expect((await holdpointHere(words)).code).toBe(0);
    expect((await answered).body.status.state).toBe('completed');
    await eventually(async () => expect(await page.title()).toBe('Approvals · Holdpoint'));
  });

  it('is shown in a notification after permission, without words of a model', async () => {
    const page = await look('#/approvals', async (opened) => {
      await opened.addInitScript(() => {
        const shown: object[] = [];
        class Stub extends EventTarget {
          static permission = 'default';
          static requestPermission(): Promise<string> {
            Stub.permission = 'granted';
            return Promise.resolve('granted');
          }
          constructor(title: string, options: object) {
            super();
            shown.push({ title, ...options });
          }
        }
        Object.assign(globalThis, { Notification: Stub, shown });
      });
    });
    const waits = async (task: string) => {
      const { answered } = await agent.hold(dashboard, task);
      await eventually(async () => expect(await page.title()).toBe('(1) Approvals · Holdpoint'));
      return async () => {
        await agent.client.decide(task, { decision: 'approve', approver: 'ann' });
        await answered;
        await eventually(async () => expect(await page.title()).toBe('Approvals · Holdpoint'));
      };
    };
    const shown = () => page.evaluate(() => (globalThis as any).shown);
    await page.evaluate(() => {
      Object.defineProperty((globalThis as any).document, 'visibilityState', { value: 'hidden' });
    });
    await (await waits('n1'))();
    expect(await shown()).toEqual([]);
    await tabTo(page, 'Notify me');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' });
    const end = await waits('n2');
    expect(await shown()).toEqual([
      { title: 'pay needs approval', body: 'Approval needed: till', tag: expect.any(String) },
    ]);
    await end();
  });

  it('has no animation for users who want none', async () => {
    const { answered } = await agent.hold(dashboard, 'm1');
    const page = await look('', (opened) => opened.emulateMedia({ reducedMotion: 'reduce' }));
    for (const route of ['#/agents', '#/approvals', '#/tasks', '#/tasks/till/m1', '#/audit/till']) {
      await page.goto(`${dashboard.url}/${route}`);
      await page.locator('main .card').first().waitFor();
      const moving = await page.evaluate(
        () =>
          (globalThis as any).document
            .getAnimations()
            .filter(({ playState }: any) => playState === 'running').length,
      );
      expect([route, moving]).toEqual([route, 0]);
    }
    await agent.client.decide('m1', { decision: 'approve', approver: 'ann' });
    await answered;
  });

  it('is shown at once in eight tabs, which share one stream and lose nothing with the first of them', async () => {
    const streams = new Set<Request>();
    // Of a tab that is closed the browser tells no end.
    const open = () => [...streams].filter((one) => !one.frame().page().isClosed()).length;
    const first = await look('', async (opened) => {
      const isStream = (url: string): boolean => url.endsWith('/api/events');
      opened.context().on('request', (one) => isStream(one.url()) && streams.add(one));
      const ended = (one: Request): void => void streams.delete(one);
      opened.context().on('requestfinished', ended);
      opened.context().on('requestfailed', ended);
    });
    await eventually(() => expect(open()).toBe(1));
    const tabs = [first];
    while (tabs.length < 8) tabs.push(await first.context().newPage());
    await Promise.all(tabs.slice(1).map((tab) => tab.goto(`${dashboard.url}/#/agents`)));
    await Promise.all(
      tabs.map((tab) => tab.getByRole('button', { name: 'Stop', exact: true }).waitFor()),
    );
    expect(open()).toBe(1);
    const one = await agent.hold(dashboard, 'e1');
    await all(tabs, '(1) Agents · Holdpoint');
    await first.close();
    await agent.client.decide('e1', { decision: 'approve', approver: 'ann' });
    await one.answered;
    await all(tabs.slice(1), 'Agents · Holdpoint');
    await eventually(() => expect(open()).toBe(1));
    const two = await agent.hold(dashboard, 'e2');
    await all(tabs.slice(1), '(1) Agents · Holdpoint');
    await agent.client.decide('e2', { decision: 'approve', approver: 'ann' });
    await two.answered;
  });
});

/** Waits until every tab has this title. */
function all(tabs: readonly Page[], title: string): Promise<void> {
  return eventually(async () => {
    expect(await Promise.all(tabs.map((tab) => tab.title()))).toEqual(tabs.map(() => title));
  });
}
