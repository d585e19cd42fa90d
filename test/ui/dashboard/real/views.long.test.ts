import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { evilTexts } from '../../../helpers/evil-texts.ts';
import { faultsOf, narrow, twoLooks } from '../../../helpers/faults-of.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually, overflowOf } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;

beforeAll(async () => {
  const pay = { to: 'channel:console:desk', timeout: '20m' };
  const security = {
    guardrails: { enabled: true, denied_tools: ['break'] },
    modify: { enabled: true, tools: { pay: { arguments: [{ path: 'amount', set: 4 }] } } },
    defer: { enabled: true, tools: { pay } },
  };
  const settings = { security, server: { colour: 'red' } };
  agent = new WorkspaceAgent(shared.workspace, 'till', settings, shared.later);
  dashboard = await shared.open();
  await agent.start(dashboard);
});
afterAll(() => shared.close());

async function open(page: Page, route: string): Promise<void> {
  await page.goto(`${dashboard.url}/${route}`);
  await page.locator('main h1').waitFor();
  await page.getByText('Loading …').waitFor({ state: 'detached' });
}

function layers(page: Page, tool: string): Promise<string[][]> {
  const card = page.locator('section', { has: page.getByRole('heading', { name: tool }) });
  return card
    .locator('[data-layer]')
    .evaluateAll((all: any[]) =>
      all.map((row) => [
        row.dataset.layer,
        row.querySelector('.verdict').innerText,
        row.classList.contains('grey') ? 'grey' : '',
      ]),
    );
}

it('the rulings on calls are shown in order, up to a denial', async () => {
  const { answered } = await agent.hold(dashboard, 'w1');
  const { page } = await shared.browser.page();
  await open(page, '#/tasks/till/w1');
  await page.locator('[data-state="deferred.asked"][aria-current=true]').waitFor();
  const order = ['Intent', 'Assurance', 'Modify', 'Approval', 'Run'];
  const pay = await layers(page, 'pay');
  expect(pay.map(([name]) => name)).toEqual(order);
  expect(pay.map(([, verdict]) => verdict)).toEqual([
    'allow',
    'allow',
    'modify',
    'hold',
    'not yet',
  ]);
  // Looking back runs nothing.
  const sent: string[] = [];
  page.on('request', (one) => void (one.method() === 'GET' || sent.push(one.url())));
  const slider = page.getByRole('slider');
  await slider.focus();
  for (let step = 0; step < 6; step += 1) await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Home');
  await page.keyboard.press('End');
  expect(sent).toEqual([]);
  await agent.client.decide('w1', { decision: 'approve', approver: 'ann' });
  await answered;
  await agent.client.send('w2', [{ tool: 'break', args: {} }]);
  await open(page, '#/tasks/till/w2');
  await page.locator('[data-layer]').first().waitFor();
  const denied = await layers(page, 'break');
  const at = denied.findIndex(([, verdict]) => verdict === 'deny');
  expect(at).toBeGreaterThanOrEqual(0);
  expect(denied.slice(at + 1).map(([, , grey]) => grey)).toEqual(
    denied.slice(at + 1).map(() => 'grey'),
  );
});

it('each warning of the configuration is shown next to its rules', async () => {
  const { body } = await dashboard.get('/api/agents/till');
  const { body: policy } = await dashboard.get('/api/agents/till/policy');
  expect(body.warnings.length).toBeGreaterThan(0);
  const { page } = await shared.browser.page();
  await open(page, '#/agents/till/policy');
  const shown = await page.locator('main').innerText();
  for (const warning of [...body.warnings, ...policy.warnings]) expect(shown).toContain(warning);
});

it('text of others stays text: in the log, in a call, in a conversation and in its record', async () => {
  appendFileSync(
    join(agent.folder.path, '.service/serve.log'),
    evilTexts.map((text) => `${text}\n`).join(''),
  );
  const args = Object.fromEntries(evilTexts.map((text, index) => [`${index} ${text}`, text]));
  const parts = [
    ...evilTexts.map((text) => ({ kind: 'text', text })),
    { kind: 'data', data: { script: [{ tool: 'pay', args: { amount: 5, ...args } }] } },
  ];
  const message = { role: 'user', parts, messageId: 'evil' };
  const answered = agent.client.post('/tasks/send', { task: { id: 'x1', message } });
  await eventually(async () => {
    expect((await agent.client.get('/tasks/x1')).body.status?.state).toBe('deferred');
  });
  const { page } = await shared.browser.page();
  const routes: Record<string, string> = {
    '#/agents/till/logs': '.log',
    '#/approvals/till/x1': '.detail',
    '#/tasks/till/x1': 'main',
    '#/audit/till': 'main ol',
    '#/tasks': 'main',
  };
  const odd =
    'main :is(img, script, iframe, style, base, meta, object, embed, video, audio, math, marquee, a:not([href^="#/"]))';
  for (const [route, place] of Object.entries(routes)) {
    await open(page, route);
    await eventually(async () => {
      const text = await page.locator(place).first().textContent();
      expect([route, text]).toEqual([route, expect.stringContaining('document.title=1')]);
    });
    expect([route, await page.locator(odd).count()]).toEqual([route, 0]);
    expect(await page.title()).toContain('Holdpoint');
  }
  await agent.client.decide('x1', { decision: 'reject', approver: 'ann' });
  await answered;
});

it('no view has an axe finding, and all fit, wide and narrow', async () => {
  const task = 'looked-at';
  const { answered } = await agent.hold(dashboard, task);
  const { page } = await shared.browser.page(narrow);
  const routes = [
    '#/overview',
    '#/agents',
    `#/approvals/till/${task}`,
    '#/tasks',
    `#/tasks/till/${task}`,
    '#/audit/till',
    '#/agents/till/chat',
    '#/agents/till/config',
    '#/agents/till/policy',
    '#/agents/till/mcp',
    '#/agents/till/doctor',
    '#/agents/till/logs',
    '#/workflows',
    '#/health',
  ];
  for (const route of routes) {
    await open(page, route);
    const faults = await faultsOf(page, twoLooks);
    expect({ route, faults }).toEqual({ route, faults: [] });
    // As at 200 %.
    await page.setViewportSize({ width: 640, height: 400 });
    expect({ route, wider: await overflowOf(page) }).toEqual({ route, wider: null });
    await page.setViewportSize({ width: 320, height: 800 });
  }
  await agent.client.decide(task, { decision: 'reject', approver: 'ann' });
  await answered;
});
