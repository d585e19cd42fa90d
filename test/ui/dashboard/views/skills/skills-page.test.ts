import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  SkillDetailJson,
  SkillPlanJson,
} from '../../../../../src/http/wire/dashboard/skill-json.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { everyLook, faultsOf, narrow } from '../../../../helpers/faults-of.ts';
import { anAgent } from '../../../../helpers/page-fixtures.ts';
import { readOut } from '../../../../helpers/page-walk.ts';
import { openHeldPage } from '../../held-page.ts';
import { eventually, startPageServer } from '../../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

function aSkill(changes: Partial<SkillDetailJson> = {}): SkillDetailJson {
  return {
    ...{ name: 'slack-post', display_name: 'Post to Slack', category: 'communication' },
    description: 'Posts a message to Slack once a person agrees.',
    ...{ tags: ['slack', 'messages'], tools: ['read_channel', 'post_message'] },
    ...{ held: ['post_message'], risk: 'Everybody in the channel sees it.' },
    skill_md: '---\nname: slack-post\n---\n\n# Post\n\n## Tool: post_message\n\nPosts.\n',
    ...{ scripts: ['post_message.mjs'], egress_domains: ['slack.com'], digest: 'ab'.repeat(32) },
    requires: {
      bins: [],
      required: ['SLACK_POST_TOKEN'],
      one_of: ['A', 'B'],
      optional: ['SLACK_API_URL'],
    },
    ...changes,
  };
}

const plan: SkillPlanJson = {
  ...{ name: 'slack-post', added: false, files: ['skills/slack-post/SKILL.md'] },
  ...{
    scripts_reach: ['slack.com'],
    egress_mode: 'allowlist',
    held_added: ['post_message'],
    asks: ['channel:console:*'],
  },
  ...{
    defer_turned_on: true,
    env_missing: [{ name: 'SLACK_POST_TOKEN', kind: 'required' as const }],
  },
  before: 'agent_id: desk\n',
  after: 'agent_id: desk\nsecurity:\n  defer:\n    enabled: true\n',
};

async function serveSkills(...skills: SkillDetailJson[]) {
  const server = await startPageServer();
  server.agents = [anAgent({ id: 'desk', status: 'running', directory: '/agents/my desk' })];
  server.routes.set('GET /api/skills', () => ({ body: skills }));
  for (const skill of skills) {
    server.routes.set(`GET /api/skills/${skill.name}`, () => ({ body: skill }));
  }
  server.routes.set('POST /api/agents/desk/skills', (_, url) => ({
    body: { ...plan, added: url.searchParams.get('preview') !== 'true' },
  }));
  return server;
}

describe('the skills on the page', () => {
  it('have no axe-core finding, and fit, in both themes, wide and narrow', async () => {
    const server = await serveSkills(
      aSkill(),
      aSkill({ name: 'json-diff', category: 'data', held: [] }),
    );
    const { page } = await browser.page(narrow);
    for (const route of ['#/skills', '#/skills/slack-post', '#/skills?category=none']) {
      await page.goto(server.url + route);
      await page.getByText('2 built-in skills').waitFor();
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      const faults = await faultsOf(page, everyLook);
      expect({ route, faults }).toEqual({ route, faults: [] });
    }
    await page.goto(`${server.url}#/skills/slack-post`);
    await page.getByRole('button', { name: 'Add to agent' }).click();
    await page.getByRole('combobox').selectOption('desk');
    await page.getByText('decided at channel:console:*').waitFor();
    expect(await faultsOf(page, everyLook)).toEqual([]);
  });

  it('are filtered by a category, which the address keeps', async () => {
    const server = await serveSkills(aSkill(), aSkill({ name: 'json-diff', category: 'data' }));
    const { page } = await browser.page();
    await page.goto(`${server.url}#/skills`);
    await page.getByRole('link', { name: 'data' }).click();
    await eventually(async () =>
      expect(await page.locator('.cards h2').allInnerTexts()).toEqual(['json-diff']),
    );
    expect(new URL(page.url()).hash).toBe('#/skills?category=data');
    await page.reload();
    await page.getByRole('link', { name: 'json-diff' }).click();
    await page.getByRole('heading', { name: 'Post to Slack' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/skills/json-diff?category=data');
    const detail = page.getByRole('region', { name: 'Skill json-diff' });
    expect(await detail.locator('dl').innerText()).toMatch(
      /Required\s+SLACK_POST_TOKEN\s+One of\s+A, B\s+Optional\s+SLACK_API_URL/,
    );
  });

  it('are added after a preview, with the command that does the same', async () => {
    const server = await serveSkills(aSkill());
    const { page } = await browser.page();
    await page.goto(`${server.url}#/skills/slack-post`);
    await page.getByRole('button', { name: 'Add to agent' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true);
    await dialog.getByRole('combobox').selectOption('desk');
    await dialog.getByText('decided at channel:console:*').waitFor();
    expect(await dialog.locator('dl').innerText()).toContain(
      'scripts can reach slack.com; other tools cannot',
    );
    expect(await dialog.locator('pre').innerText()).toContain('defer:');
    expect(await dialog.locator('.command code').innerText()).toBe(
      "holdpoint skills add slack-post --dir '/agents/my desk'",
    );
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('slack-post is added. desk has it after a restart.').waitFor();
    expect(await dialog.locator('.command code').innerText()).toBe(
      "holdpoint secret set SLACK_POST_TOKEN --dir '/agents/my desk'",
    );
    expect(server.posts).toEqual([
      { path: '/api/agents/desk/skills', body: { name: 'slack-post' } },
      { path: '/api/agents/desk/skills', body: { name: 'slack-post' } },
    ]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('are planned for the agent that was selected last, and refused with the reason', async () => {
    const routes = ['desk', 'till'].map((id) => `POST /api/agents/${id}/skills`);
    const [desk = '', till = ''] = routes;
    const held = await openHeldPage({
      ...{ browser, view: '#/skills/slack-post', held: routes },
      arrange: (server) => {
        server.agents = [anAgent({ id: 'desk' }), anAgent({ id: 'till', status: 'stopped' })];
        server.routes.set('GET /api/skills', () => ({ body: [aSkill()] }));
        server.routes.set('GET /api/skills/slack-post', () => ({ body: aSkill() }));
      },
    });
    const { page, asked, answer } = held;
    forgive(held.complaints, ['409']);
    await page.getByRole('button', { name: 'Add to agent' }).click();
    const dialog = page.getByRole('dialog');
    const shows = (...lines: string[]) =>
      eventually(async () => {
        const shown = await readOut(dialog, ['combobox', 'status', 'alert', 'button']);
        expect(shown.filter((line) => !line.startsWith('button "Copy'))).toEqual(lines);
      });
    const cancel = 'button "Cancel"';
    await dialog.getByRole('combobox').selectOption('desk');
    await shows('combobox "Agent"', 'status: Loading …', 'button "Add" [disabled]', cancel);
    await dialog.getByRole('combobox').selectOption('till');
    await eventually(() => expect(asked.length).toBe(2));
    await answer(desk, { status: 409, body: { error: 'It is there.' } });
    await answer(till, { body: plan });
    await shows('combobox "Agent"', 'button "Add"', cancel);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await shows('combobox "Agent" [disabled]', 'button "Adding …" [disabled]', cancel);
    await answer(till, { status: 409, body: { error: 'It has changed.' } });
    await shows('combobox "Agent"', 'alert: It has changed.', 'button "Add" [disabled]', cancel);
    expect(asked).toEqual([
      [`${desk}?preview=true`, { name: 'slack-post' }],
      [`${till}?preview=true`, { name: 'slack-post' }],
      [till, { name: 'slack-post' }],
    ]);
  });

  it('show why an agent cannot have one, and the remedy where nothing can be read', async () => {
    const server = await serveSkills(aSkill());
    const error = 'the agent has a skill slack-post already';
    server.routes.set('POST /api/agents/desk/skills', () => ({ status: 409, body: { error } }));
    // The browser itself notes each answer that is a refusal.
    const { page, complaints } = await browser.page({ isOwn: false });
    await page.goto(`${server.url}#/skills/slack-post`);
    await page.getByRole('button', { name: 'Add to agent' }).click();
    await page.getByRole('combobox').selectOption('desk');
    await page.getByRole('alert').getByText(error).waitFor();
    expect(await page.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true);
    await page.goto(`${server.url}#/skills/none`);
    await page
      .getByRole('region', { name: 'Skill none' })
      .getByText('holdpoint skills list')
      .waitFor();
    server.routes.set('GET /api/skills', () => ({ status: 500, body: { error: 'It is broken.' } }));
    await page.reload();
    await page.getByRole('alert').getByText('It is broken.').waitFor();
    await page.getByRole('button', { name: 'Refresh' }).waitFor();
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
  });

  it('are shown with text that a person wrote into one twice', async () => {
    const twice = { tags: ['slack', 'slack'], tools: ['post_message', 'post_message'] };
    const server = await serveSkills(aSkill(twice));
    const { page } = await browser.page();
    await page.goto(`${server.url}#/skills`);
    await eventually(async () => expect(await page.getByText('#slack').count()).toBe(2));
    await page.goto(`${server.url}#/skills/slack-post`);
    await page.getByText('SHA-256').waitFor();
    expect(await page.locator('dd.words span.mono').allInnerTexts()).toEqual(twice.tools);
  });

  it('are shown as text, with any content', async () => {
    const evil =
      '<img src=x onerror="document.title=\'run\'"><script>document.title="run"</script>';
    const skill = aSkill({
      ...{ description: evil, risk: evil, tags: [evil], display_name: evil, scripts: [evil] },
      skill_md: `---\nname: ${evil}\n---\n\n${evil}\n\n[go](javascript:document.title='run') ![x](http://evil.test/x.png)\n`,
    });
    const server = await serveSkills(skill);
    const { page } = await browser.page();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).hostname));
    await page.goto(`${server.url}#/skills/slack-post`);
    await page.getByText('SHA-256').waitFor();
    await page.getByText('image not loaded').waitFor();
    expect(await page.locator('main img, main script, main [href^=javascript]').count()).toBe(0);
    expect(await page.title()).toBe('Skills · Holdpoint');
    expect(new Set(asked)).toEqual(new Set(['127.0.0.1']));
  });
});
