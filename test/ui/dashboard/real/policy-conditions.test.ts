import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgive } from '../../../helpers/browser.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { faultsOf, twoLooks } from '../../../helpers/faults-of.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
const first = `agent_id: till # the till
model: {provider: scripted, name: scripted}
builtin_tools: [math_calculate]
audit: {capture: {tool_args: true, llm_messages: true}}
security:
  defer:
    enabled: true
    tools:
      pay: # money
        - {when: 'double(args.amount) <= 3.0', allow: true} # small
        - {to: "channel:console:desk", timeout: 20m}
      math_calculate: {to: "channel:console:desk", timeout: 20m}
`;
const table = `- {name: small amounts run, tool: pay, args: {amount: 2}, expect: {decision: allow}}
- {name: large amounts wait, tool: pay, args: {amount: 50}, expect: {decision: defer}}
`;
let agent: WorkspaceAgent;
let dashboard: DashboardProcess;
let path: string;

beforeAll(async () => {
  agent = new WorkspaceAgent(shared.workspace, 'till', {}, shared.later);
  path = join(agent.folder.path, 'service.yaml');
  writeFileSync(path, first);
  writeFileSync(join(agent.folder.path, 'policy.test.yaml'), table);
  dashboard = await shared.open();
  await agent.start(dashboard);
  const { answered } = await agent.hold(dashboard, 't1');
  await agent.client.decide('t1', { decision: 'reject', approver: 'ann' });
  await answered;
});
afterAll(() => shared.close());

async function openEditor(page: Page): Promise<void> {
  await page.goto(`${dashboard.url}/#/agents/till/policy`);
  await page.getByRole('button', { name: 'Edit the rules' }).click();
  await page.locator('[data-tool=pay]').waitFor();
}

/** Opens the editor of a rule's condition, and selects its text. */
async function editCondition(page: Page, tool: string, rule: string) {
  const row = page.locator(`[data-tool=${tool}]`);
  const button = row.locator('li', { hasText: rule }).getByRole('button');
  await button.click();
  const field = page.getByLabel(`Condition of ${rule}`);
  await field.click();
  await page.keyboard.press('Control+a');
  return row;
}

it('the condition of a rule in a list is edited, with the tests and the effect on recorded calls before the save', async () => {
  const { page } = await shared.browser.page();
  await openEditor(page);
  const row = await editCondition(page, 'pay', 'defer.tools.pay[0]');
  expect(await row.getByText('edited in service.yaml; conditions are below').count()).toBe(1);
  await page.keyboard.type('double(args.amount) <= 60.0');
  await row.getByText('The condition is valid.').waitFor();
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('This weakens the policy.').waitFor();
  expect(await page.locator('.weaker li').allInnerTexts()).toEqual([
    'Fewer restrictions would have applied to recent calls of pay.',
  ]);
  expect(await page.locator('.conditions li').allInnerTexts()).toContain(
    'defer.tools.pay[0] applies only if double(args.amount) <= 60.0.',
  );
  const tests = page.getByRole('region', { name: 'Policy tests' });
  expect(await tests.innerText()).toMatch(
    /1 passed, 1 failed\s+large amounts wait policy\.test\.yaml row 2\s+decision: expected defer, got allow/,
  );
  const calls = page.getByRole('region', { name: 'What it would have done to the last call' });
  expect(await calls.locator('tbody tr').allInnerTexts()).toEqual([
    expect.stringMatching(/t1\s+pay\s+\{"amount":5\}\s+hold\s+run/),
  ]);
  expect(await faultsOf(page, twoLooks)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. till applies the rules within seconds.').waitFor();
  expect(readFileSync(path, 'utf8')).toBe(
    first.replace("when: 'double(args.amount) <= 3.0'", 'when: double(args.amount) <= 60.0'),
  );
  writeFileSync(path, first);
});

it('names are completed, and the fault of an expression is shown with its column while it is typed', async () => {
  const { page } = await shared.browser.page();
  await openEditor(page);
  const row = await editCondition(page, 'math_calculate', 'defer.tools.math_calculate');
  await page.keyboard.type('args.ex');
  const offered = page.locator('[role=option]');
  await offered.first().waitFor();
  expect(await offered.allInnerTexts()).toEqual(['expressionstring']);
  // The editor ignores Enter for a moment after the list opens, so that nobody chooses by accident.
  await offered.first().click();
  await page.keyboard.type(' > 5.0');
  await row.getByText('column 1: no such overload: string > double').waitFor();
  expect(await faultsOf(page, twoLooks)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press('Control+a');
  await page.keyboard.type('history.count("ma');
  await offered.filter({ hasText: 'math_calculate' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await row.getByText('The rule always applies.').waitFor();
  expect(await page.getByText('No changes yet.').count()).toBe(1);
});

it('an invalid condition is refused in the preview, with its place', async () => {
  const { page, complaints } = await shared.browser.page();
  await openEditor(page);
  await editCondition(page, 'pay', 'defer.tools.pay[0]');
  await page.keyboard.type('args.amount +');
  await page.getByRole('button', { name: 'Preview' }).click();
  forgive(complaints, ['400']);
  expect(await page.getByRole('alert').first().innerText()).toMatch(/column \d+ of the expression/);
  expect(readFileSync(path, 'utf8')).toBe(first);
  page.once('dialog', (dialog) => void dialog.accept());
});

it('the policy tests run under the current policy', async () => {
  const { page } = await shared.browser.page();
  await page.goto(`${dashboard.url}/#/agents/till/policy`);
  await page.getByRole('button', { name: 'Run policy tests' }).click();
  await page.getByText('2 passed, 0 failed').waitFor();
  expect(await faultsOf(page, twoLooks)).toEqual([]);
});
