import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtinToolNames } from '../../../src/actors/tools/tools.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';

const text = '# kept\nagent_id: till\nmodel: {provider: scripted}\n';

async function withAgent() {
  const page = await openDashboard((workspace) => {
    mkdirSync(join(workspace, 'till'));
    writeFileSync(join(workspace, 'till/service.yaml'), text);
  });
  const folder = join(page.workspace, 'till');
  const add = (body: unknown, query = '') =>
    page.request('POST', `/api/agents/till/skills${query}`, { body: body as object });
  return { page, folder, add, config: () => readFileSync(join(folder, 'service.yaml'), 'utf8') };
}

describe('the skills of the registry', () => {
  it('are listed, all or those of a category', async () => {
    const page = await openDashboard();
    const { body } = await page.get('/api/skills');
    expect(body.length).toBeGreaterThanOrEqual(10);
    const payments = await page.get('/api/skills?category=payments');
    expect(payments.body).toEqual([
      {
        ...{ name: 'stripe-refunds', display_name: 'Stripe refunds', category: 'payments' },
        description: 'Looks up a payment at Stripe, and refunds it once a person agrees.',
        ...{ tags: ['stripe', 'refunds', 'payments'], held: ['refund_payment'] },
        tools: ['lookup_payment', 'refund_payment'],
      },
    ]);
    expect((await page.get('/api/skills?category=cooking')).body).toEqual([]);
    expect((await page.get('/api/skills?category=../x')).status).toBe(400);
    expect((await page.get('/api/skills?category=a&category=b')).status).toBe(400);
  });

  it('are shown completely, by a name inside the registry', async () => {
    const page = await openDashboard();
    const { body } = await page.get('/api/skills/kubernetes');
    expect(body).toMatchObject({
      ...{ name: 'kubernetes', held: ['restart_deployment'], egress_domains: [] },
      requires: {
        bins: [],
        required: ['KUBERNETES_API_URL', 'KUBERNETES_TOKEN'],
        one_of: [],
        optional: ['KUBERNETES_CA'],
      },
      skill_md: expect.stringContaining('## Tool: restart_deployment'),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await page.get('/api/skills/none')).status).toBe(404);
    const wrong = [
      '%2e%2e%2fx',
      '..%2fx',
      '..%5cx',
      'a%00',
      'A',
      'é',
      'a'.repeat(65),
      'a--b',
      '-a',
    ];
    for (const name of wrong) {
      const { status, body: said } = await page.get(`/api/skills/${name}`);
      expect([name, status]).toEqual([name, 400]);
      expect(said.error).toBe('the name of a skill is lower-case words with hyphens');
    }
  });

  it('are added to an agent as previewed, once', async () => {
    const { page, folder, add, config } = await withAgent();
    const preview = await add({ name: 'slack-post' }, '?preview=true');
    const after = `${text}security:
  defer:
    enabled: true
    tools:
      post_message:
        to: channel:console:*
`;
    const plan = {
      ...{ name: 'slack-post', scripts_reach: ['slack.com'], held_added: ['post_message'] },
      egress_mode: 'allowlist',
      ...{ asks: ['channel:console:*'], defer_turned_on: true, before: text, after },
      env_missing: [
        { name: 'SLACK_POST_TOKEN', kind: 'required' },
        { name: 'SLACK_API_URL', kind: 'optional' },
      ],
      files: ['SKILL.md', 'scripts/http.mjs', 'scripts/post_message.mjs', 'scripts/run.mjs'].map(
        (file) => `skills/slack-post/${file}`,
      ),
    };
    expect([preview.status, preview.body]).toEqual([200, { ...plan, added: false }]);
    expect([config(), existsSync(join(folder, 'skills'))]).toEqual([text, false]);
    const added = await add({ name: 'slack-post' });
    expect([added.status, added.body]).toEqual([201, { ...plan, added: true }]);
    expect(config()).toBe(after);
    expect(plan.files.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    expect((await page.get('/api/agents/till')).body).toMatchObject({
      skills: ['slack-post'],
    });
    const again = await add({ name: 'slack-post' });
    expect([again.status, again.body.error]).toEqual([
      409,
      'the agent has a skill slack-post already',
    ]);
    expect(config()).toBe(after);
  });

  it('are not added for an invalid body, name or agent', async () => {
    const { page, add, config } = await withAgent();
    for (const body of [
      {},
      { name: 3 },
      { name: '../x' },
      { name: 'A' },
      { name: 'json-diff', dir: '/' },
      [],
    ]) {
      expect((await add(body)).status).toBe(400);
    }
    expect((await add({ name: 'none' })).status).toBe(404);
    expect((await add({ name: 'json-diff' }, '?preview=maybe')).status).toBe(400);
    const elsewhere = { body: { name: 'json-diff' } };
    expect((await page.request('POST', '/api/agents/none/skills', elsewhere)).status).toBe(404);
    const foreign = { ...elsewhere, headers: { origin: 'http://evil.test' } };
    expect((await page.request('POST', '/api/agents/till/skills', foreign)).status).toBe(403);
    expect(config()).toBe(text);
  });
});

describe('the builtin tools', () => {
  it('are listed with their arguments, and whether a call may change something', async () => {
    const page = await openDashboard();
    const { status, body } = await page.get('/api/tools');
    const tools = body as { name: string; changes: boolean }[];
    expect([status, tools.map(({ name }) => name)]).toEqual([200, builtinToolNames]);
    expect(tools.filter(({ changes }) => changes).map(({ name }) => name)).toEqual([
      ...['cli_execute', 'file_edit', 'file_write', 'http_request'],
    ]);
    expect(tools.find(({ name }) => name === 'datetime_now')).toEqual({
      name: 'datetime_now',
      description: 'Tells the current date and time.',
      changes: false,
      input_schema: {
        type: 'object',
        properties: {
          timezone: {
            type: 'string',
            description: 'IANA name such as Europe/Berlin; UTC if omitted',
          },
        },
        additionalProperties: false,
      },
    });
    expect((await page.request('POST', '/api/tools', { body: {} })).status).toBe(405);
  });
});
