import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeFindings } from '../../../../helpers/axe-findings.ts';
import { refused, TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { evilTexts } from '../../../../helpers/evil-texts.ts';
import { builderKey, openBuilder } from '../../../../helpers/skill-writer.ts';
import { forecast, weather, writtenDown } from '../../../../helpers/weather-skill.ts';
import { eventually, overflowOf } from '../../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const plain = weather
  .replace('egress_domains: [api.weather.example]\n', '')
  .replace('WEATHER_KEY], optional: [WEATHER_UNIT]', 'WEATHER_KEY]');
const script = '#!/bin/sh\necho sunny\n';

const onDisk = {
  'till/skills/weather/SKILL.md': plain,
  'till/skills/weather/scripts/forecast.sh': script,
  'till/skills/weather/scripts/old.sh': 'echo old\n',
};

async function open(options: Parameters<typeof openBuilder>[0] = {}) {
  const opened = await openBuilder(options);
  const { page, ...shown } = await browser.page();
  await page.goto(`${opened.page.url}/#/skill-builder/till`);
  await page.getByRole('heading', { name: 'till' }).waitFor();
  const folder = join(opened.page.workspace, 'till');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { ...shown, page, mock: opened.mock, dashboard: opened.page, folder, read };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page
    .getByRole('button', { name: 'Send' })
    .and(page.locator('[aria-disabled=false]'))
    .click();
}

describe('the page of the skill builder', () => {
  it('writes a skill with a model, saves it, and asks for missing variables', async () => {
    const { page, mock, read } = await open();
    mock.on(
      { userMessage: 'the weather' },
      { content: '{"message": "Which city?", "skill": null}' },
    );
    mock.on(
      { userMessage: 'Helsinki' },
      { content: writtenDown(plain, { 'forecast.sh': script }) },
    );
    await page.getByText('No custom skills yet.').waitFor();
    await say(page, 'Tell the weather');
    await page.getByText('Which city?').waitFor();
    await say(page, 'Helsinki');
    await page.getByText('No problems found.').waitFor();
    await page.getByRole('tab', { name: 'forecast.sh' }).click();
    await page.getByText('echo sunny').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as').waitFor();
    expect(read('skills/weather/SKILL.md')).toBe(plain);
    await page.getByLabel('WEATHER_KEY').fill(builderKey);
    await page.getByRole('button', { name: 'Save variables' }).click();
    await eventually(async () => expect(await page.getByLabel('WEATHER_KEY').count()).toBe(0));
    expect(read('.service/.env')).toBe(`WEATHER_KEY=${builderKey}\n`);
    expect(read('skills/weather/scripts/forecast.sh')).toBe(script);
    expect(await page.content()).not.toContain(builderKey);
  });

  it('holds the tools of the skill, as shown before the save, unless a person deselects them', async () => {
    const { page, mock, read } = await open();
    const held = plain.replace('  service:\n', '  service:\n    held: [forecast]\n');
    mock.on({ userMessage: 'x' }, { content: writtenDown(held, { 'forecast.sh': script }) });
    await say(page, 'x');
    const group = page.getByRole('group', { name: 'Waiting calls' });
    const box = group.getByRole('checkbox', { name: 'Hold calls of forecast' });
    await box.waitFor();
    expect(await box.isChecked()).toBe(true);
    const changes = group.getByRole('region', { name: 'Changes of service.yaml' });
    expect(await changes.locator('.is-allow').allTextContents()).toEqual([
      '+ added security:\n',
      '+ added   defer:\n',
      '+ added     enabled: true\n',
      '+ added     tools:\n',
      '+ added       forecast:\n',
      '+ added         to: channel:console:*\n',
    ]);
    expect(await axeFindings(page)).toEqual([]);
    expect(await overflowOf(page)).toBe(null);
    await box.uncheck();
    await group.getByText('They will run without approval.').waitFor();
    expect(await changes.count()).toBe(0);
    await box.check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Calls of forecast wait for a person.').waitFor();
    expect(read('service.yaml')).toContain('forecast:\n        to: channel:console:*');
  });

  it('edits a skill: added and removed lines are shown before the save', async () => {
    const { page, mock, folder, read } = await open({ files: onDisk });
    mock.on(
      { userMessage: 'rain' },
      {
        content: writtenDown(`${plain}\nRain too.\n`, {
          'forecast.sh': script,
          'rain.sh': 'echo rain\n',
        }),
      },
    );
    await page.getByRole('button', { name: 'Edit weather' }).click();
    await page.getByText('Editing', { exact: true }).waitFor();
    await say(page, 'Add rain');
    await page.getByRole('tab', { name: 'rain.sh' }).waitFor();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('tab', { name: 'rain.sh new' }).waitFor();
    await page.getByRole('tab', { name: 'old.sh removed' }).waitFor();
    await page
      .locator('.cm-merge-b .cm-changedLine, .cm-merge-b .cm-insertedLine')
      .first()
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const sent = page.waitForRequest((request) => request.url().endsWith('/save'));
    await page.getByRole('button', { name: 'Confirm save' }).click();
    expect((await sent).postDataJSON()).toMatchObject({
      ...{ overwrite: true, editing_name: 'weather', skill_name: 'weather' },
    });
    await page.getByText('uses it from its next start').waitFor();
    expect(existsSync(join(folder, 'skills/weather/scripts/old.sh'))).toBe(false);
    expect(read('skills/weather/scripts/rain.sh')).toBe('echo rain\n');
    expect(JSON.stringify(mock.getRequests()[0]?.body)).toContain('## Edit Mode');
    await page.getByRole('button', { name: 'New skill' }).click();
    await eventually(async () =>
      expect(await page.getByText('Editing', { exact: true }).count()).toBe(0),
    );
    expect(await page.getByRole('tab').count()).toBe(0);
  });

  it('warns of a new name, and offers a concurrently saved version', async () => {
    const { page, mock, dashboard, read, complaints } = await open({ files: onDisk });
    mock.on(
      { userMessage: 'climate' },
      { content: writtenDown(plain.replace('name: weather', 'name: climate')) },
    );
    mock.on(
      { userMessage: 'back' },
      { content: writtenDown(`${plain}\nMine.\n`, { 'forecast.sh': script }) },
    );
    await page.getByRole('button', { name: 'Edit weather' }).click();
    await page.getByText('Editing', { exact: true }).waitFor();
    await say(page, 'Call it climate');
    await page.getByText('A new name creates a new skill').waitFor();
    await say(page, 'Call it as it was, back');
    await eventually(async () =>
      expect(await page.getByText('A new name creates').count()).toBe(0),
    );
    const theirs = {
      skill_md: `${plain}\nTheirs.\n`,
      scripts: {},
      overwrite: true,
      editing_name: 'weather',
      skill_name: 'weather',
    };
    await dashboard.post('/api/agents/till/skill-builder/save', theirs);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Compare with current' }).click();
    await page.getByText('Theirs.').waitFor();
    await page.getByRole('button', { name: 'Confirm save' }).and(page.locator(':enabled')).click();
    await page.getByText('Saved as').waitFor();
    // The browser itself notes each refusal.
    await refused(complaints, 412);
    expect(read('skills/weather/SKILL.md')).toBe(`${plain}\nMine.\n`);
  });

  it('replaces another skill after a person has compared the two', async () => {
    const climate = plain
      .replace('name: weather', 'name: climate')
      .replace('Tool: fore', 'Tool: out');
    const { page, mock, read, complaints } = await open({
      files: { ...onDisk, 'till/skills/climate/SKILL.md': climate },
    });
    mock.on(
      { userMessage: 'climate' },
      { content: writtenDown(`${climate}\nMine.\n`, { 'outcast.sh': script }) },
    );
    await page.getByRole('button', { name: 'Edit weather' }).click();
    await page.getByText('Editing', { exact: true }).waitFor();
    await say(page, 'Call it climate');
    await page.getByText('A new name creates a new skill').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Compare with current' }).click();
    await page.getByRole('button', { name: 'Confirm save' }).and(page.locator(':enabled')).click();
    await page.getByText('Saved as').waitFor();
    await refused(complaints, 409);
    expect(read('skills/climate/SKILL.md')).toBe(`${climate}\nMine.\n`);
    expect(read('skills/weather/SKILL.md')).toBe(plain);
  });

  it('asks for a model first, stores its key and never shows it', async () => {
    const { page, mock, dashboard } = await open({ isSet: false });
    mock.on({ userMessage: 'Hello' }, { content: 'Hello. What should it do?' });
    await page.getByRole('button', { name: 'Configure' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Provider').selectOption('openai');
    await dialog.getByLabel('Model', { exact: true }).fill('gpt-5');
    await dialog.getByLabel('Address').fill(`${mock.url}/v1`);
    await dialog.getByLabel('Key', { exact: true }).fill(builderKey);
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await say(page, 'Hello');
    await page.getByText('What should it do?').waitFor();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByText('Set for this workspace.').waitFor();
    expect(await page.content()).not.toContain(builderKey);
    expect(readFileSync(join(dashboard.workspace, '.service/.env'), 'utf8')).toContain(builderKey);
  });

  it('explains that the model of the agent has an end', async () => {
    const { page } = await open({
      isSet: false,
      files: {
        'till/service.yaml':
          'agent_id: till\nmodel: {provider: anthropic, name: claude-sonnet-4-5}\n',
        'till/.service/.env': 'ANTHROPIC_API_KEY=k\n',
      },
    });
    await page.getByText('Skills are written by the model of this agent').waitFor();
    await page.getByRole('button', { name: 'Configure' }).waitFor();
  });

  it('shows any text of a model as text, and fits in any width (WEB-4)', async () => {
    const { page, mock } = await open();
    const evil = evilTexts.filter((text) => !text.includes('\n')).join('\n\n');
    const skill = weather.replace('# Weather', `# Weather\n\n${evil}`);
    mock.on(
      { userMessage: 'x' },
      { content: `${evil}\n\n${writtenDown(skill, { 'forecast.sh': `${forecast}${evil}\n` })}` },
    );
    const title = await page.title();
    await say(page, 'x');
    await page.getByRole('tab', { name: 'forecast.sh' }).click();
    await page.getByText('Valid, with warnings').or(page.getByText('No problems found')).waitFor();
    await eventually(async () => expect(await page.title()).toBe(title));
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await overflowOf(page)).toBeNull();
    }
    expect(await axeFindings(page)).toEqual([]);
  });

  it('reports a failed answer, and a card links to it', async () => {
    const { page, mock, dashboard } = await open();
    mock.on({ userMessage: 'x' }, { content: writtenDown(weather, { '../../x': 'x' }) });
    await page.goto(`${dashboard.url}/#/agents`);
    await page.getByRole('link', { name: 'Create skill' }).click();
    await say(page, 'x');
    await page.getByText('the name of a script is up to 64 letters').waitFor();
    expect(await page.getByRole('tab').count()).toBe(0);
  });
});
