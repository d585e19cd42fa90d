import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestBrowser } from '../../helpers/browser.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

function writeAgent(workspace: string, name: string, text: string): void {
  mkdirSync(join(workspace, name), { recursive: true });
  writeFileSync(join(workspace, name, 'service.yaml'), text);
}

it('the agents of a workspace appear as they are found, and one starts and stops', async () => {
  const { dashboard, workspace } = await openDashboard();
  const { page } = await browser.page();
  await page.goto(`http://127.0.0.1:${dashboard.port}/#/agents`);
  await page.getByText('No agents yet').waitFor();
  expect(await page.locator('.about').innerText()).toContain(workspace);
  writeAgent(workspace, 'till', 'agent_id: till\nmodel:\n  provider: scripted\n  name: scripted\n');
  const card = page.locator('article').filter({ hasText: 'till' });
  await card.getByRole('button', { name: 'Start', exact: true }).click();
  await card.getByRole('button', { name: 'Stop', exact: true }).waitFor({ timeout: 60_000 });
  await card.getByText('running').waitFor({ timeout: 60_000 });
  await card.getByRole('button', { name: 'Stop', exact: true }).click();
  await card.getByText('stopped').waitFor({ timeout: 60_000 });
});

it('an unreadable configuration is shown as text on its card', async () => {
  const { dashboard } = await openDashboard((workspace) => {
    writeAgent(workspace, 'broken', 'agent_id: [<b>\n');
  });
  const { page } = await browser.page();
  await page.goto(`http://127.0.0.1:${dashboard.port}/#/agents`);
  const card = page.locator('article').filter({ hasText: 'broken' });
  expect(await card.locator('pre').innerText()).toMatch(/service\.yaml:\d+:\d+/);
});
