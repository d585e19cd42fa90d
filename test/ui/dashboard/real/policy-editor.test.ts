import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgive } from '../../../helpers/browser.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { everyLook, faultsOf, narrow } from '../../../helpers/faults-of.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
const first = `agent_id: till # the till
version: 1.2.0
model: {provider: scripted, name: scripted}
security:
  # Money waits.
  defer:
    enabled: true
    tools:
      pay: {to: "channel:console:desk", timeout: 20m}
`;
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;
let path: string;

beforeAll(async () => {
  agent = new WorkspaceAgent(shared.workspace, 'till', {}, shared.later);
  path = join(agent.folder.path, 'service.yaml');
  writeFileSync(path, first);
  dashboard = await shared.open();
  await agent.start(dashboard);
  const { answered } = await agent.hold(dashboard, 't1');
  await agent.client.decide('t1', { decision: 'reject', approver: 'ann' });
  await answered;
});
afterAll(() => shared.close());

function saved(): string {
  return readFileSync(path, 'utf8');
}

async function openEditor(page: Page): Promise<void> {
  await page.goto(`${dashboard.url}/#/agents/till/policy`);
  await page.getByRole('button', { name: 'Edit the rules' }).click();
  await page.locator('[data-tool=pay]').waitFor();
}

function row(page: Page, tool: string) {
  return page.locator(`[data-tool=${tool}]`);
}

it('the effect of weaker rules on the last calls is shown before the save, and comments are kept', async () => {
  const { page } = await shared.browser.page();
  await openEditor(page);
  const save = page.getByRole('button', { name: 'Save' });
  expect(await save.isDisabled()).toBe(true);
  await row(page, 'pay').getByLabel('needs approval').uncheck();
  await row(page, 'echo').getByLabel('denied').check();
  expect(await save.isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('This weakens the policy.').waitFor();
  expect(await page.locator('.weaker li').allInnerTexts()).toEqual([
    'pay no longer requires approval.',
    'Fewer restrictions would have applied to recent calls of pay.',
  ]);
  expect(await page.locator('section:has(#preview-calls)').innerText()).toMatch(
    /the last call\s+1 hold → run/,
  );
  expect(await page.locator('[data-line=added]').allInnerTexts()).not.toEqual([]);
  expect(saved()).toBe(first);
  expect(existsSync(join(agent.folder.path, 'paid'))).toBe(false);
  await save.click();
  await page.getByText('Rules saved.').waitFor();
  expect(saved()).toContain('# the till');
  expect(saved()).toContain('# Money waits.');
  expect(load(saved())).toMatchObject({
    security: {
      guardrails: { enabled: true, denied_tools: ['echo'] },
      defer: { enabled: false, tools: {} },
    },
  });
  await page.getByText('Saved. till applies the rules within seconds.').waitFor();
  const log = join(agent.folder.path, '.service/audit.ndjson');
  await eventually(() => expect(readFileSync(log, 'utf8')).toContain('"previous_sha256"'));
  writeFileSync(path, first);
});

it('a concurrent change is not overwritten, and an invalid rule is explained', async () => {
  const { page, complaints } = await shared.browser.page();
  await openEditor(page);
  await row(page, 'pay').getByLabel('to', { exact: true }).fill('nobody');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('alert').first().waitFor();
  await row(page, 'pay')
    .getByLabel('to', { exact: true })
    .fill('channel:console:desk, channel:console:night');
  const theirs = `${first}# theirs\n`;
  writeFileSync(path, theirs);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.locator('[data-line=added]', { hasText: '# theirs' }).waitFor();
  expect(saved()).toBe(theirs);
  await page.getByRole('button', { name: 'Start over from it' }).click();
  await row(page, 'pay').waitFor();
  // The browser notes a 400 and a 412 of its own accord.
  forgive(complaints, ['400', '412']);
  writeFileSync(path, first);
});

it('the policy editor is accessible', async () => {
  const { page } = await shared.browser.page(narrow);
  await openEditor(page);
  await row(page, 'pay').getByLabel('quorum').fill('2');
  await row(page, 'pay').getByLabel('approvers').fill('ann@example.com, bob@example.com');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('Changes to be written').waitFor();
  expect(await faultsOf(page, everyLook)).toEqual([]);
  page.once('dialog', (dialog) => void dialog.accept());
});
