import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { patient } from '../../../helpers/patient.ts';
import { TalkingModel } from '../../../helpers/talking-model.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
const model = new TalkingModel();
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;

beforeAll(async () => {
  const settings = { ...deferring(), model: await model.listen() };
  shared.later(() => model.close());
  agent = new WorkspaceAgent(shared.workspace, 'till', settings, shared.later);
  dashboard = await shared.open();
  await agent.start(dashboard);
});
afterAll(() => shared.close());

async function openChat() {
  const opened = await shared.browser.page();
  await opened.page.goto(`${dashboard.url}/#/agents/till/chat`);
  await opened.page.getByLabel('Message', { exact: true }).waitFor();
  return opened;
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

function aloud(page: Page): Promise<string> {
  return page.locator('[aria-live=polite]').first().innerText();
}

async function lastTask(): Promise<{ id: string; status: { state: string } }> {
  const { body } = await agent.client.get('/tasks?limit=1');
  return body.tasks[0];
}

it('the answer is written as it arrives, read out by sentences, and never run', async () => {
  const { page } = await openChat();
  await say(page, 'Where is A-1042?');
  const answer = await model.next();
  answer.say('Let me **look** at');
  await page.locator('.agent strong', { hasText: 'look' }).waitFor();
  expect(await aloud(page)).toBe('');
  answer.say(' it. Then <img src=x onerror="document.title=1"> and');
  await page.locator('.agent', { hasText: '<img src=x' }).waitFor();
  expect(await aloud(page)).toBe('Let me **look** at it.');
  expect(await page.locator('.agent img').count()).toBe(0);
  answer.end(' [here](javascript:document.title=1), done.');
  await page.getByRole('link', { name: 'Steps' }).waitFor();
  expect(await page.locator('.markdown').innerText()).toBe(
    'Let me look at it. Then <img src=x onerror="document.title=1"> and here, done.',
  );
  expect(await page.locator('.markdown a[href]').count()).toBe(0);
  expect(await page.title()).toBe('Chat of till · Holdpoint');
});

it('a call is held until it is approved in another tab, and governance is shown', async () => {
  const { page } = await openChat();
  await say(page, 'Pay five');
  (await model.next()).call('pay', { amount: 5 });
  const held = page.getByRole('group', { name: 'Waiting call' });
  await held.waitFor();
  expect(await held.innerText()).toMatch(/pay needs approval[^]*amount[^]*5/);
  expect(agent.folder.paid).toEqual([]);
  const inbox = await page.context().newPage();
  await inbox.goto(
    new URL((await held.getByRole('link').getAttribute('href'))!, dashboard.url).href,
  );
  await inbox.getByRole('button', { name: 'Approve' }).click();
  await inbox.getByText('Approved: pay of till.').waitFor();
  await held.waitFor({ state: 'detached' });
  (await model.next()).end('It is **paid**.');
  await page.locator('.agent strong', { hasText: 'paid' }).waitFor();
  expect(agent.folder.paid).toHaveLength(1);
  await page.locator('.call', { hasText: 'was held' }).waitFor();
  expect(await page.locator('.call').innerText()).toMatch(/^pay[^]*was held[^]*done$/);
  await page.reload();
  const call = page.locator('details.call');
  await call.waitFor();
  expect(await call.innerText()).toMatch(/^pay[^]*was held[^]* approved[^]*done$/);
  expect(await call.locator('[data-layer=Approval]').isVisible()).toBe(false);
  await call.locator('summary').click();
  await call.locator('[data-layer=Approval]', { hasText: 'hold' }).waitFor();
  expect(await page.locator('.turn .agent > *:not(h2)').allInnerTexts()).toEqual([
    expect.stringMatching(/^pay/),
    'It is paid.',
    expect.stringContaining('Steps'),
  ]);
  await page.getByRole('link', { name: 'Steps' }).click();
  await call.waitFor({ state: 'detached' });
  const layers = page.locator('[data-layer]');
  await layers.first().waitFor();
  expect(await layers.evaluateAll((all: any[]) => all.map(({ dataset }) => dataset.layer))).toEqual(
    ['Intent', 'Assurance', 'Modify', 'Approval', 'Run', 'Output'],
  );
});

it('an answer continues after a reload', async () => {
  const { page } = await openChat();
  await say(page, 'Tell me all');
  const answer = await model.next();
  answer.say('One, two, ');
  await page.getByText('One, two,').first().waitFor();
  await page.reload();
  await page.locator('.asked', { hasText: 'Tell me all' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  answer.say('three, ');
  await page.locator('.markdown', { hasText: 'One, two, three,' }).waitFor();
  answer.end('four.');
  await page.getByRole('link', { name: 'Steps' }).waitFor();
  // The link to the task may be there before the last words are.
  const said = (): Promise<string> => page.locator('.markdown').innerText();
  await vi.waitFor(async () => expect(await said()).toBe('One, two, three, four.'), patient);
  expect(await page.locator('.asked').count()).toBe(1);
});

it('a task is stopped with its model', async () => {
  const { page } = await openChat();
  await say(page, 'Count to a million');
  const answer = await model.next();
  answer.say('One, ');
  await page.getByText('One,').first().waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped.').waitFor();
  await answer.left;
  expect((await lastTask()).status.state).toBe('canceled');
});

it('conversations are listed, and one is continued', async () => {
  const { page } = await openChat();
  await say(page, 'Remember seven');
  (await model.next()).end('I will.');
  await page.getByRole('link', { name: 'Steps' }).waitFor();
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('What should till do?').waitFor();
  const list = page.getByRole('navigation', { name: 'Conversations' });
  await list.getByRole('button', { name: 'Remember seven' }).click();
  await page.locator('.markdown', { hasText: 'I will.' }).waitFor();
  await say(page, 'Which number?');
  const answer = await model.next();
  expect(JSON.stringify(answer.messages)).toMatch(/Remember seven.*I will\..*Which number\?/);
  answer.end('Seven.');
  await eventually(async () => {
    expect(await page.locator('.asked').allInnerTexts()).toHaveLength(2);
    expect(await page.locator('.markdown').last().innerText()).toBe('Seven.');
  });
});
