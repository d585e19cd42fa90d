import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { forecast, weather, writtenDown } from '../../test/helpers/weather-skill.ts';
import { walkWizard } from '../../test/helpers/wizard-walk.ts';
import type { Demo } from './demo.ts';
import type { Scene, Screen } from './screen.ts';

type DemoScreen = Screen<Demo>;

const demo = (address: string, walk?: DemoScreen['walk'], takes = false): DemoScreen => ({
  address,
  takes,
  ...(walk && { walk }),
});

async function say({ page }: Scene, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  const send = page.getByRole('button', { name: 'Send' });
  await send.and(page.locator('[aria-disabled=false]')).click();
}

async function buildSkill(scene: Scene, made: Demo): Promise<void> {
  const { page, take, open } = scene;
  const here = '#/skill-builder/ops';
  await page.getByRole('button', { name: 'Configure' }).waitFor();
  await take('unset');
  await page.getByRole('button', { name: 'Configure' }).click();
  await page.getByRole('dialog').waitFor();
  await take('settings');
  made.setModel();
  for (const source of ['user', 'agent_fallback'] as const) {
    const told = /\/(?:api\/settings\/skill-builder|skill-builder\/provider)$/;
    await page.route(told, async (route) => {
      const response = await route.fetch();
      const json = { ...((await response.json()) as object), source };
      const warning =
        'Skills are written by the model of this agent, which will go; name one for the workspace.';
      const said = source === 'user' ? {} : { deprecation_warning: warning };
      await route.fulfill({ response, json: { ...json, ...said } });
    });
    await open(here);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('dialog').waitFor();
    await take(`settings-${source}`);
    await page.unroute(told);
  }
  await open(here);
  await page.getByText('No custom skills yet.').or(page.getByText('SKILL.md')).first().waitFor();
  await take('empty');
  made.model.on(
    { userMessage: 'the weather' },
    {
      content:
        '{"message": "Which service shall it ask, and does it need a **key**? One that needs none is `open-meteo.com`.", "skill": null}',
    },
  );
  const wrong = weather.replace('description: Tells the weather\n', '');
  made.model.on({ userMessage: 'Ask api' }, { content: writtenDown(wrong, {}) });
  made.model.on(
    { userMessage: 'fix' },
    { content: writtenDown(weather, { 'forecast.sh': forecast }) },
  );
  const more = `${weather}\nIt tells of rain, too.\n`;
  made.model.on(
    { userMessage: 'rain' },
    {
      content: writtenDown(more, {
        'forecast.sh': forecast.replace('v1', 'v2'),
        'rain.sh': '#!/bin/sh\ncurl -s https://api.weather.example/v2/rain\n',
      }),
    },
  );
  await say(scene, 'A skill that tells the weather of a city');
  await page.getByText('Which service').waitFor();
  await take('interview');
  await say(scene, 'Ask api.weather.example, with a key');
  await page.getByText('Fix the errors to save').waitFor();
  await take('wrong');
  await say(scene, 'Please fix what the check has found');
  await page.getByRole('tab', { name: 'forecast.sh' }).click();
  await page.getByText(/^No problems found|^Valid, with/).waitFor();
  await take('draft');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved as').waitFor();
  await take('saved');
  await open(here);
  await page.getByRole('button', { name: 'Edit weather' }).click();
  await say(scene, 'Add rain');
  await page.getByRole('tab', { name: 'rain.sh' }).waitFor();
  await page.getByRole('button', { name: 'Preview changes' }).click();
  await page.locator('.cm-merge-b').first().waitFor();
  await take('changes');
}

async function editRules({ page, take }: Scene): Promise<void> {
  await page.getByRole('button', { name: 'Edit the rules' }).click();
  const row = (tool: string) => page.locator(`[data-tool=${tool}]`);
  await row('rotate_key').waitFor();
  await take('clean');
  await row('restart_service').getByLabel('needs approval').uncheck();
  await row('read_graph').getByLabel('denied').check();
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('This weakens the policy.').waitFor();
  await take('preview');
  await row('rotate_key').getByLabel('to', { exact: true }).fill('nobody');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('alert').first().waitFor();
  await take('wrong');
  page.once('dialog', (dialog) => void dialog.accept());
}

async function editConfig({ page, take }: Scene, made: Demo): Promise<void> {
  const write = async (text: string): Promise<void> => {
    await page.locator('.cm-content').click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.insertText(text);
  };
  await page.getByText(/^Valid|^No problems/).waitFor();
  await take('clean');
  await write('colour: red\naudit:\n  capture: 5\n');
  await page.getByText(/errors?\. Fix to save/).waitFor();
  await page.locator('.cm-lint-marker-error').first().waitFor();
  await take('wrong');
  for (let undone = 0; undone < 2; undone += 1) await page.keyboard.press('ControlOrMeta+z');
  await write('# Mine.\n');
  await page.getByText(/^Valid|^No problems/).waitFor();
  appendFileSync(join(made.directory, 'support/service.yaml'), '# Theirs.\n');
  await page.keyboard.press('ControlOrMeta+s');
  await page.locator('.cm-deletedChunk').waitFor();
  await take('changed');
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Restart now' }).waitFor();
  await take('saved');
}

/** Screens of agents at work. */
export const demoScreens: Record<string, DemoScreen> = {
  'demo-agents': demo('#/agents'),
  'demo-tasks': demo('#/tasks'),
  'demo-policy': demo('#/agents/support/policy'),
  'demo-now': demo('#/approvals', async ({ page }) => {
    await page.locator('[data-row]', { hasText: 'scale_service' }).click();
    await page.getByRole('link', { name: 'View task' }).first().click();
    await page.getByRole('button', { name: 'Re-evaluate with current policy' }).first().click();
    await page.getByText('No call was run.').waitFor();
  }),
  'demo-workflows-none': demo('#/workflows'),
  doctor: demo('#/agents/ops/doctor', async ({ page }) => {
    await page
      .getByText(/checks pass|passed|need/)
      .first()
      .waitFor({ timeout: 90_000 });
    await page.getByText('lines not yet in the log').waitFor();
  }),
  health: demo(
    '#/health',
    async ({ page, take }) => {
      await page.getByText('not checked yet').first().waitFor();
      await take('unchecked');
      await page.getByRole('button', { name: 'Check all' }).click();
      await page.getByRole('button', { name: 'Stop' }).waitFor();
      await page.getByRole('button', { name: 'Check all' }).waitFor({ timeout: 180_000 });
      await take('checked');
    },
    true,
  ),
  a2a: demo(
    '#/a2a',
    async ({ page, take }) => {
      await take('begin');
      await page.getByRole('combobox', { name: 'Agent' }).selectOption('ops');
      await page.getByRole('button', { name: 'Get card' }).click();
      await page.getByRole('region', { name: 'Requested 1.0' }).waitFor();
      await page.getByRole('combobox', { name: 'Request' }).selectOption('message/stream');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByText(/^Status 200/).waitFor();
      await take('card');
    },
    true,
  ),
  skills: demo('#/skills'),
  'skills-filter': demo('#/skills?category=communication'),
  'skills-none': demo('#/skills?category=none'),
  'skills-detail': demo('#/skills/email-send'),
  'skills-add': demo('#/skills/email-send', async ({ page }) => {
    await page.getByRole('button', { name: 'Add to agent' }).click();
    await page.getByRole('combobox').selectOption('ops');
    await page.getByText('decided at').waitFor();
  }),
  'policy-edit': demo('#/agents/ops/policy', editRules, true),
  config: demo('#/agents/support/config', editConfig, true),
  builder: demo('#/skill-builder/ops', buildSkill, true),
  new: demo('#/new', ({ page, take }) => walkWizard(page, take), true),
};
