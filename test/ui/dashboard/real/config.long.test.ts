import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgive } from '../../../helpers/browser.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
const first = 'agent_id: till\nversion: 1.2.0\nmodel:\n  provider: scripted\n  name: scripted\n';
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;
let path: string;

beforeAll(async () => {
  agent = new WorkspaceAgent(shared.workspace, 'till', {}, shared.later);
  path = join(agent.folder.path, 'service.yaml');
  writeFileSync(path, first);
  dashboard = await shared.open();
  await agent.start(dashboard);
});
afterAll(() => shared.close());

function saved(): string {
  return readFileSync(path, 'utf8');
}

async function openConfig() {
  const opened = await shared.browser.page();
  await opened.page.goto(`${dashboard.url}/#/agents/till/config`);
  await opened.page.locator('.cm-content').waitFor();
  await opened.page.getByText('No problems found.').waitFor();
  return opened;
}

/** Writes at the end of the text. */
async function write(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText(text);
}

it('the configuration is edited, checked, corrected, saved and used after a restart', async () => {
  const { page, complaints } = await openConfig();
  await write(page, 'audit:\n  chain: many\n');
  // It is checked current written, and nothing is saved by that.
  await page.getByText('1 error. Fix to save.').waitFor();
  await page.locator('.cm-lint-marker-error').first().waitFor();
  expect(saved()).toBe(first);
  // What the server refuses is marked on its line, and stays as it was written.
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('button', { name: 'line 7' }).click();
  expect(await page.locator('.cm-activeLine').innerText()).toBe('  chain: many');
  expect(saved()).toBe(first);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(first.replace('1.2.0', '1.3.0'));
  await page.getByText('No problems found.').waitFor();
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByText('Saved. Restart till to apply it.').waitFor();
  expect(saved()).toBe(first.replace('1.2.0', '1.3.0'));
  const before = agent.pid;
  await page.getByRole('button', { name: 'Restart now' }).click();
  await eventually(async () => {
    expect(agent.pid).not.toBe(before);
    const { body } = await dashboard.get('/api/agents/till');
    expect([body.status, body.version]).toEqual(['running', '1.3.0']);
  });
  // The browser notes of its own accord, and when it comes to it, that the save was refused.
  forgive(complaints, [`400 ${dashboard.url}/api/agents/till/config`]);
});

it('the keys and values of the schema are completed', async () => {
  const { page } = await openConfig();
  await write(page, '');
  await page.keyboard.type('egr');
  // The editor takes no Enter for a list that has only just appeared.
  await page.locator('.cm-tooltip-autocomplete').getByText('egress', { exact: true }).click();
  await eventually(async () => {
    expect(await page.locator('.cm-content').innerText()).toContain('egress:');
  });
  page.once('dialog', (dialog) => void dialog.accept());
});

it('a concurrent change is not overwritten', async () => {
  const { page, complaints } = await openConfig();
  const theirs = `${saved()}# theirs\n`;
  writeFileSync(path, theirs);
  await write(page, '# mine\n');
  const mine = theirs.replace('theirs', 'mine');
  await page.keyboard.press('ControlOrMeta+s');
  await page.locator('.cm-deletedChunk', { hasText: '# theirs' }).waitFor();
  expect(saved()).toBe(theirs);
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await page.keyboard.press('ControlOrMeta+s');
  await eventually(() => expect(saved()).toBe(mine));
  // As above, of the conflict.
  forgive(complaints, [`412 ${dashboard.url}/api/agents/till/config`]);
});

it('a plain field replaces an editor that cannot be loaded', async () => {
  const { page, complaints } = await shared.browser.page();
  await page.route('**/yaml-editor*', (route) => route.abort());
  await page.goto(`${dashboard.url}/#/agents/till/config`);
  const field = page.getByLabel('service.yaml of till');
  await field.fill(`${first}channels: 1\n`);
  await page.getByText('1 error. Fix to save.').waitFor();
  await page.getByRole('button', { name: 'line 6' }).click();
  expect(await field.evaluate((one: any) => [one.selectionStart, one.matches(':focus')])).toEqual([
    first.length,
    true,
  ]);
  await field.fill(`${first}# plain\n`);
  await page.getByText('No problems found.').waitFor();
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByText('Restart now').waitFor();
  expect(saved()).toBe(`${first}# plain\n`);
  forgive(complaints, ['ERR_FAILED', 'yaml-editor']);
});
