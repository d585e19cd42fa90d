import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { isAlive } from '../../../../src/actors/process/is-alive.ts';
import { readServeFile } from '../../../../src/actors/process/serve-file.ts';
import { seeWhole } from '../../../helpers/browser.ts';
import { startModelServer } from '../../../helpers/model-server.ts';
import { weather, writtenDown } from '../../../helpers/weather-skill.ts';
import { eventually } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
afterAll(() => shared.close());

const skill = weather
  .replace('egress_domains: [api.weather.example]\n', '')
  .replace(/metadata:[^]*?(?=---)/, '');
const script = '#!/bin/sh\necho sunny in Helsinki\n';

/** The process that serves the agent; `null` while none does. */
function pid(): number | null {
  const served = readServeFile(join(shared.workspace, 'weather-desk/.service'));
  return served !== null && isAlive(served.pid) ? served.pid : null;
}

it('an empty folder becomes an agent with an approved call of a new skill, with every line of the log verified', async () => {
  const mock = await startModelServer();
  const dashboard = await shared.open({ OPENAI_API_KEY: 'sk-of-the-builder' });
  const { page } = await shared.browser.page();
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const next = () => page.getByRole('button', { name: 'Next' }).click();

  // An agent is made.
  await page.goto(`${dashboard.url}/#/agents`);
  await page.getByText('No agents yet').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'New agent' }).first().click();
  await heading('Name');
  await page.getByRole('textbox', { name: 'Name' }).fill('Weather Desk');
  await next();
  await page.getByRole('radio', { name: /^OpenAI-compatible/ }).check();
  await next();
  await heading('Which model, and which authentication?');
  await page.getByRole('textbox', { name: 'Model' }).fill('gpt-5');
  await page.getByRole('textbox', { name: 'Address' }).fill(`${mock.url}/v1`);
  await page.locator('[data-step=approvals] a').click();
  await page.getByRole('checkbox', { name: 'datetime_now' }).check();
  await next();
  await page.getByRole('region', { name: 'service.yaml' }).waitFor();
  await page.getByRole('button', { name: 'Create' }).click();
  await heading('Agent created');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('button', { name: 'Restart' }).waitFor({ timeout: 60_000 });
  shared.later(async () => {
    await dashboard.post('/api/agents/weather-desk/stop', {});
    await eventually(async () => {
      expect((await dashboard.get('/api/agents/weather-desk')).body.status).toBe('stopped');
    });
  });

  // A model writes a skill for it.
  mock.on(
    { userMessage: 'a forecast skill' },
    { content: writtenDown(skill, { 'forecast.sh': script }) },
  );
  await page.getByRole('link', { name: 'Create skill' }).click();
  await page.getByRole('button', { name: 'Configure' }).first().click();
  const settings = page.getByRole('dialog');
  await settings.getByLabel('Provider').selectOption('openai');
  await settings.getByLabel('Model').fill('gpt-5');
  await settings.getByLabel('Address').fill(`${mock.url}/v1`);
  await settings.getByLabel('Key', { exact: true }).fill('sk-of-the-builder');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.waitFor({ state: 'detached' });
  await page.getByLabel('Message', { exact: true }).fill('Write a forecast skill');
  await page
    .getByRole('button', { name: 'Send' })
    .and(page.locator('[aria-disabled=false]'))
    .click();
  await page.getByText('No problems found.').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved as').waitFor();

  // Its calls are to wait: a rule is written, and the agent restarted.
  await page.goto(`${dashboard.url}/#/agents/weather-desk/config`);
  await page.getByText('No problems found.').waitFor();
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText(
    '      forecast:\n        to: channel:console:*\n        timeout: 20m\n',
  );
  await page.getByText('unsaved').waitFor();
  await page.getByText('No problems found.').waitFor();
  await page.keyboard.press('ControlOrMeta+s');
  const before = pid();
  await page.getByRole('button', { name: 'Restart now' }).click();
  await eventually(async () => {
    // While it restarts there is none.
    expect([null, before]).not.toContain(pid());
    const { body } = await dashboard.get('/api/agents/weather-desk');
    expect(body).toMatchObject({ status: 'running', tools: ['datetime_now', 'forecast'] });
    expect(body.held_tools).toContain('forecast');
  });

  // It is asked, and calls the new tool, which waits.
  const forecast = { name: 'forecast', arguments: JSON.stringify({ city: 'Helsinki' }) };
  mock.on({ userMessage: 'Will it rain', hasToolResult: false }, { toolCalls: [forecast] });
  mock.on({ userMessage: 'Will it rain', hasToolResult: true }, { content: 'No, it is sunny.' });
  await page.goto(`${dashboard.url}/#/agents/weather-desk/chat`);
  await page.getByLabel('Message', { exact: true }).fill('Will it rain?');
  await page.keyboard.press('Enter');
  const held = page.getByRole('group', { name: 'Waiting call' });
  await held.getByText('Helsinki').first().waitFor();
  await page.getByRole('link', { name: /^Approvals/ }).click();
  await (await seeWhole(page)).click();
  await page.getByText('Approved: forecast of weather-desk.').waitFor();
  await eventually(async () => {
    const { body } = await dashboard.get('/api/agents/weather-desk/tasks');
    expect(body.tasks.map(({ state }: { state: string }) => state)).toEqual(['completed']);
  });
  expect(JSON.stringify(mock.getRequests().at(-1)?.body)).toContain('sunny in Helsinki');

  // The log records it, and the browser verifies each line of it.
  await page.goto(`${dashboard.url}/#/audit/weather-desk`);
  await page.getByRole('button', { name: 'Verify all' }).click();
  await page.getByText('chain intact').waitFor();
  const log = readFileSync(join(shared.workspace, 'weather-desk/.service/audit.ndjson'), 'utf8');
  const events = log
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { event: string }).event);
  await page.getByText(`${events.length} events`).first().waitFor();
  expect(events).toEqual(expect.arrayContaining(['task_deferred', 'task_deferred_decision']));
});
