import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../../../src/version.ts';
import { holdpoint } from '../../../cli/holdpoint.ts';
import { forgive } from '../../../helpers/browser.ts';
import { type DashboardProcess, startDashboard } from '../../../helpers/dashboard-process.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { focused, Shared } from './real-page.ts';

const shared = new Shared();
let dashboard: DashboardProcess;

beforeAll(async () => {
  dashboard = await shared.open();
});
afterAll(() => shared.close());

function anAgent(id: string, settings = {}): WorkspaceAgent {
  return new WorkspaceAgent(shared.workspace, id, settings);
}

/** Runs another command line for the agent of a folder, as an operator would next to the page. */
async function serve(verb: 'start' | 'stop', { folder }: WorkspaceAgent): Promise<void> {
  const port = verb === 'start' ? ['--port', '0'] : [];
  const { code, stderr } = await holdpoint(['serve', verb, '--dir', folder.path, ...port]);
  expect([code, stderr]).toEqual([0, expect.anything()]);
}

async function look(route = '') {
  const opened = await shared.browser.page();
  await opened.page.goto(`${dashboard.url}/${route}`);
  await opened.page.locator('main h1').waitFor();
  return opened;
}

function cardOf(page: Page, id: string) {
  return page.locator('article').filter({ has: page.getByRole('heading', { name: id }) });
}

describe('a workspace', () => {
  it('explains the first agent, names this build, and shows new and removed folders', async () => {
    const { page } = await look();
    await page.getByText('No agents yet').waitFor();
    expect(await page.locator('main code').innerText()).toBe('holdpoint init');
    const { stdout } = await holdpoint(['--version']);
    expect(stdout.trim()).toContain(version);
    expect(await page.locator('.about').innerText()).toBe(
      `${version} · workspace ${shared.workspace}`,
    );
    const made = Date.now();
    anAgent('fresh');
    await cardOf(page, 'fresh').getByText('stopped').waitFor();
    expect(Date.now() - made).toBeLessThan(20_000);
    rmSync(join(shared.workspace, 'fresh'), { recursive: true });
    await cardOf(page, 'fresh').waitFor({ state: 'detached' });
    await page.getByText('No agents yet').waitFor();
  });

  it('shows a broken configuration, and its correction, as text without a reload', async () => {
    const agent = anAgent('broken');
    const path = join(agent.folder.path, 'service.yaml');
    const good = readFileSync(path, 'utf8');
    const { page } = await look();
    const card = cardOf(page, 'broken');
    await card.getByText('stopped').waitFor();
    writeFileSync(path, 'agent_id: [<b>\n');
    await card.locator('pre').waitFor();
    expect(await card.locator('pre').innerText()).toMatch(/service\.yaml:\d+:\d+/);
    expect(await card.locator('pre b').count()).toBe(0);
    writeFileSync(path, good);
    await card.locator('pre').waitFor({ state: 'detached' });
    rmSync(agent.folder.path, { recursive: true });
  });
});

describe('an agent', () => {
  it('that the command line starts and stops is updated in every tab', async () => {
    const agent = anAgent('till');
    const tabs = [await look(), await look()];
    await Promise.all(tabs.map(({ page }) => cardOf(page, 'till').getByText('stopped').waitFor()));
    await serve('start', agent);
    await Promise.all(tabs.map(({ page }) => cardOf(page, 'till').getByText('running').waitFor()));
    expect(await cardOf(tabs[0]!.page, 'till').innerText()).toContain(
      `127.0.0.1:${new URL(agent.client.url).port}`,
    );
    await serve('stop', agent);
    await Promise.all(tabs.map(({ page }) => cardOf(page, 'till').getByText('stopped').waitFor()));
    rmSync(agent.folder.path, { recursive: true });
  });

  it('whose serve.json names a process of another user is stopped', async () => {
    const agent = anAgent('stale');
    await dashboard.post('/api/agents/rescan', {});
    await agent.start(dashboard);
    const state = join(agent.folder.path, '.service/serve.json');
    const left = readFileSync(state, 'utf8');
    const { page } = await look();
    const card = cardOf(page, 'stale');
    await card.getByText('running').waitFor();
    await card.getByRole('button', { name: 'Stop', exact: true }).click();
    await card.getByText('stopped').waitFor();
    // The current process has that id now, according to the file.
    writeFileSync(`${state}.new`, JSON.stringify({ ...JSON.parse(left), pid: process.pid }));
    renameSync(`${state}.new`, state);
    await dashboard.post('/api/agents/rescan', {});
    await page.reload();
    await card.getByRole('button', { name: 'Start', exact: true }).waitFor();
    expect(await card.innerText()).not.toContain('running');
    expect((await dashboard.get('/api/agents/stale')).body.status).not.toBe('running');
    rmSync(agent.folder.path, { recursive: true });
  });

  it('that hangs is shown as not responding within seconds, and then as responding', async () => {
    const agent = anAgent('hung');
    const { page } = await look();
    const card = cardOf(page, 'hung');
    await card.getByRole('button', { name: 'Start', exact: true }).click();
    await card.getByText('running').waitFor({ timeout: 60_000 });
    process.kill(agent.pid!, 'SIGSTOP');
    await card.getByText('Not responding since').waitFor({ timeout: 20_000 });
    process.kill(agent.pid!, 'SIGCONT');
    await card.getByText('Not responding since').waitFor({ state: 'detached', timeout: 20_000 });
    agent.kill();
    rmSync(agent.folder.path, { recursive: true });
  });

  it('that crashes shows the reason as text, without colours', async () => {
    const agent = anAgent('crash', { instructions: '\u001B[31m<i>${MISSING}</i>\u001B[0m' });
    const { page } = await look();
    const card = cardOf(page, 'crash');
    await card.getByRole('button', { name: 'Start', exact: true }).click();
    await card.getByText('errored').waitFor({ timeout: 60_000 });
    const said = await card.locator('pre').innerText();
    expect(said).toContain('MISSING is not set');
    for (const colour of ['\u001B', '[31m', 'U+001B']) expect(said).not.toContain(colour);
    expect(await card.locator('pre i').count()).toBe(0);
    rmSync(agent.folder.path, { recursive: true });
  });

  it('asks again for a wrong passphrase with the focus kept, and shows it nowhere', async () => {
    const agent = anAgent('vault');
    const path = join(agent.folder.path, 'service.yaml');
    const service = { agent_id: 'vault', secrets: { providers: ['encrypted-file'] } };
    writeFileSync(path, JSON.stringify(service));
    const words = ['secret', 'set', 'SHOP_KEY', '--dir', agent.folder.path, '--passphrase-stdin'];
    await holdpoint(words, { input: 'open sesame\nof-the-shop\n' });
    await dashboard.post('/api/agents/rescan', {});
    const { page, complaints } = await look();
    const card = cardOf(page, 'vault');
    await card.getByRole('button', { name: 'Start', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await focused(page)).toBe('Passphrase');
    await page.keyboard.type('CANARY-wrong');
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .filter({ hasText: /passphrase/i })
      .waitFor({ timeout: 60_000 });
    expect(await focused(page)).toBe('Passphrase');
    expect(await page.getByLabel('Passphrase').inputValue()).toBe('');
    expect(await page.content()).not.toContain('CANARY-wrong');
    // The browser notes a refusal of its own accord.
    forgive(complaints, ['400']);
    await page.keyboard.type('open sesame');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await card.getByText('running').waitFor({ timeout: 60_000 });
    expect(await page.content()).not.toMatch(/CANARY-wrong|open sesame|of-the-shop/);
    expect(dashboard.printed).not.toMatch(/CANARY-wrong|open sesame|of-the-shop/);
    const commands = readFileSync(`/proc/${agent.pid}/cmdline`, 'utf8');
    expect(commands).not.toMatch(/open sesame/);
    agent.kill();
    rmSync(agent.folder.path, { recursive: true, force: true, maxRetries: 3 });
  });
});

it('the page recovers after the dashboard was killed, and the agent continues', async () => {
  const agent = anAgent('lasting', deferring());
  await dashboard.post('/api/agents/rescan', {});
  await agent.start(dashboard);
  await agent.hold(dashboard, 't1');
  const { page, complaints } = await look('#/approvals');
  await page.getByRole('heading', { name: 'pay', exact: true }).waitFor();
  const overview = await look();
  const card = cardOf(overview.page, 'lasting');
  await card.getByText('1 waiting').waitFor();
  const shown = await card.innerText();
  await dashboard.kill();
  await page.getByText('The dashboard is not responding').waitFor();
  expect((await agent.client.get('/healthz')).status).toBe(200);
  // What happens meanwhile is seen when it is back.
  await agent.client.decide('t1', { decision: 'reject', approver: 'ann' });
  const { answered } = await holdAt(agent, 't2');
  dashboard = await startDashboard(shared.workspace, {
    port: dashboard.port,
    later: shared.later,
  });
  await page.getByText('The dashboard is not responding').waitFor({ state: 'detached' });
  await eventually(async () => {
    expect(
      await page
        .locator('[data-task]')
        .evaluateAll((all: any[]) => all.map((one) => one.dataset.task)),
    ).toEqual(['t2']);
    expect(await card.innerText()).toBe(shown);
  });
  await agent.client.decide('t2', { decision: 'approve', approver: 'ann' });
  await answered;
  await page
    .getByText('Nothing to approve')
    .waitFor()
    .catch(() => undefined);
  await eventually(async () => expect(await page.title()).toBe('Approvals · Holdpoint'));
  forgive(complaints, ['502', '400', 'ERR_']);
  forgive(overview.complaints, ['502', '400', 'ERR_']);
});

/** Has an agent hold a call while no dashboard looks. */
async function holdAt(agent: WorkspaceAgent, task: string) {
  const answered = agent.client.send(task, [
    { tool: 'pay', args: { amount: 5 } },
    { say: 'It is paid.' },
  ]);
  await eventually(async () => {
    expect((await agent.client.get(`/tasks/${task}`)).body.status?.state).toBe('deferred');
  });
  return { answered };
}
