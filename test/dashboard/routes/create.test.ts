import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import '../../../src/dashboard/workspace/agent-maker.ts';
import type { Log } from '../../../src/actors/ports/log.ts';
import { firstAnswers, steps } from '../../../src/machines/wizard/agent-answers.ts';
import { authOffers } from '../../../src/machines/wizard/offers.ts';
import { runs } from '../../helpers/runs.ts';
import { openDashboard, type TestDashboard } from '../../helpers/test-dashboard.ts';

function serviceOf({ workspace }: TestDashboard, name: string) {
  return parse(readFileSync(join(workspace, name, 'service.yaml'), 'utf8')) as {
    auth?: { providers: unknown[] };
  };
}

it('an agent is created from its name, announced, and not started', async () => {
  const dashboard = await openDashboard();
  const events = await dashboard.stream('/api/events');
  const { status, body } = await dashboard.post('/api/create', { name: 'Refund Desk' });
  const directory = join(dashboard.workspace, 'refund-desk');
  expect({ status, body }).toEqual({ status: 201, body: { agent_id: 'refund-desk', directory } });
  const told = (await events.until(({ event }) => event === 'agent_created')).at(-1);
  events.leave();
  expect(told?.data).toMatchObject({ id: 'refund-desk', directory, status: 'stopped' });
  const { body: listed } = await dashboard.get('/api/agents');
  expect(listed).toMatchObject([{ id: 'refund-desk', status: 'stopped' }]);
  expect(readdirSync(dashboard.workspace)).toEqual(['refund-desk']);
  expect(readdirSync(directory).toSorted()).toEqual(['.gitignore', '.service', 'service.yaml']);
  expect(readdirSync(join(directory, '.service'))).toEqual(['service.schema.json']);
});

it('a gate is created, after a preview of its files', async () => {
  const dashboard = await openDashboard();
  const answers = { name: 'Coding Agents', provider: 'gate', tools: { names: ['file_write'] } };
  const { body: preview } = await dashboard.post('/api/wizard/preview', answers);
  expect((await dashboard.post('/api/create', answers)).status).toBe(201);
  const folder = join(dashboard.workspace, 'coding-agents');
  const service = readFileSync(join(folder, 'service.yaml'), 'utf8');
  const example = readFileSync('examples/gate/service.yaml', 'utf8');
  expect(service).toBe(
    `# yaml-language-server: $schema=.service/service.schema.json\n${example.replace(/^agent_id: .*$/m, 'agent_id: coding-agents')}`,
  );
  expect([preview.complaints, preview.files]).toEqual([{}, { 'service.yaml': service }]);
  expect(readdirSync(folder).toSorted()).toEqual(['.gitignore', '.service', 'service.yaml']);
});

it.each<[what: string, sent: unknown, error: string]>([
  ['no name', {}, 'the name is at most 64'],
  ['an empty name', { name: '' }, 'the name is at most 64'],
  ['a name that is not a string', { name: 5 }, 'the name is at most 64'],
  ...['..', '../x', '/etc', '..\\x', 'a/b', '%2e%2e%2fx', 'x\0', 'x'.repeat(65), '.hidden'].map(
    (name) =>
      [`the name ${JSON.stringify(name)}`, { name }, 'the name is at most 64'] as [
        string,
        unknown,
        string,
      ],
  ),
  [
    'an unknown mode',
    { name: 'x', auth: { mode: 'ldap' } },
    'ldap is not a way to sign in; known are none, oidc, http_verifier, cloud_sigv4, cloud_iap, directory_ad, custom',
  ],
  [
    'a mode that is not a string',
    { name: 'x', auth: { mode: 5 } },
    'this is not a way to sign in; known are none, oidc, http_verifier, cloud_sigv4, cloud_iap, directory_ad, custom',
  ],
  [
    'a list of modes',
    { name: 'x', auth: ['oidc'] },
    'this is not a way to sign in; known are none, oidc, http_verifier, cloud_sigv4, cloud_iap, directory_ad, custom',
  ],
  [
    'OIDC without issuer',
    { name: 'x', auth: { mode: 'oidc', settings: { audience: 'a' } } },
    'Issuer is missing',
  ],
  [
    'OIDC without audience',
    { name: 'x', auth: { mode: 'oidc', issuer: 'https://id.example.com' } },
    'Audience is missing',
  ],
  [
    'a verifier without url',
    { name: 'x', auth: { mode: 'http_verifier' } },
    'Address of the verifier is missing',
  ],
  [
    'an egress mode that is not a string',
    { name: 'x', egress: { mode: 1 } },
    'this is not a mode of egress; known are allowlist, deny-all, dev-open',
  ],
  [
    'an invalid approval',
    { name: 'x', approvals: { datetime_now: true } },
    'datetime_now: the approval target must be a target such as channel:console:* or channel:slack:#ops',
  ],
  [
    'invalid approvers',
    { name: 'x', approvals: { datetime_now: { approvers: 7 } } },
    'approvers are emails',
  ],
  [
    'a passphrase that is not a string',
    { name: 'x', security: { passphrase: 5 } },
    'the passphrase is one line',
  ],
  [
    'a variable that controls programs',
    { name: 'x', security: { variables: { LD_PRELOAD: 'x' } } },
    'this name affects how programs run, so a secret cannot have it; use another, such as SHOP_KEY',
  ],
  [
    'a line break in a variable',
    { name: 'x', security: { variables: { A: 'a\nB=c' } } },
    'line break',
  ],
  [
    'an unknown provider',
    { name: 'x', provider: 'vax' },
    'vax is not a provider; known are scripted, openai, anthropic, google, ollama, openai-compatible',
  ],
  [
    'an unknown skill',
    { name: 'x', skills: ['nothing-like-it'] },
    'nothing-like-it is not a skill of the registry; known are csv-report, dns-lookup, email-send, feature-flags, github-issues, http-health, json-diff, kubernetes, log-search, prometheus-query, release-notes, slack-post, sqlite-query, stripe-refunds, webhook-post',
  ],
])('%s is refused with 400 and nothing is written', async (_, sent, error) => {
  const dashboard = await openDashboard();
  const { status, body } = await dashboard.post('/api/create', sent);
  expect({ status, files: readdirSync(dashboard.workspace) }).toEqual({ status: 400, files: [] });
  expect(body.error).toContain(error);
});

it('a value that is not an object, and an existing folder, are refused', async () => {
  const dashboard = await openDashboard((workspace) => mkdirSync(join(workspace, 'taken')));
  for (const sent of [[], 'x', 5, null]) {
    expect((await dashboard.post('/api/create', sent)).status).toBe(400);
  }
  const { status, body } = await dashboard.post('/api/create', { name: 'taken' });
  const directory = join(dashboard.workspace, 'taken');
  expect({ status, body }).toEqual({
    status: 409,
    body: { error: `${directory} is already there`, code: 'agent_taken' },
  });
  expect(readdirSync(directory)).toEqual([]);
});

it('one agent is created of many concurrent requests with one name', async () => {
  const dashboard = await openDashboard();
  const asked = await Promise.all(
    Array.from({ length: 6 }, () => dashboard.post('/api/create', { name: 'one' })),
  );
  expect(asked.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(asked.filter(({ status }) => status === 409)).toHaveLength(5);
  expect(readdirSync(dashboard.workspace)).toEqual(['one']);
});

it('a claim map keeps its nesting', async () => {
  const dashboard = await openDashboard();
  const settings = {
    ...{ issuer: 'https://id.example.com', audience: 'refunds' },
    claim_map: { user_id: 'oid', email: 'upn' },
  };
  await dashboard.post('/api/create', { name: 'x', auth: { mode: 'oidc', settings } });
  expect(serviceOf(dashboard, 'x').auth).toEqual({ providers: [{ type: 'oidc', settings }] });
});

it('a claim of groups is dropped, because no setting here uses it', async () => {
  const dashboard = await openDashboard();
  const settings = { issuer: 'https://id.example.com', audience: 'refunds' };
  const auth = {
    ...{ mode: 'oidc', groups_claim: 'roles' },
    settings: { ...settings, groups_claim: 'roles', claim_map: { email: 'upn', groups: 'roles' } },
  };
  const { status } = await dashboard.post('/api/create', { name: 'x', auth });
  expect(status).toBe(201);
  const kept = { ...settings, claim_map: { email: 'upn' } };
  expect(serviceOf(dashboard, 'x').auth).toEqual({ providers: [{ type: 'oidc', settings: kept }] });
});

it.each(['none', 'custom'])('no settings are checked or written for the mode %s', async (mode) => {
  const dashboard = await openDashboard();
  const auth = { mode, settings: { issuer: 5, whatever: [] } };
  expect((await dashboard.post('/api/create', { name: 'x', auth })).status).toBe(201);
  expect(serviceOf(dashboard, 'x').auth).toBeUndefined();
  const text = readFileSync(join(dashboard.workspace, 'x', 'service.yaml'), 'utf8');
  expect(text.includes('# auth:')).toBe(mode === 'custom');
});

it('every unknown key is dropped silently, at any place', async () => {
  const dashboard = await openDashboard();
  const modes = ['oidc', 'http_verifier', 'cloud_sigv4', 'cloud_iap', 'directory_ad'];
  const known = {
    ...{ issuer: 'https://id.example.com', audience: 'refunds', url: 'https://v.example.com/t' },
    ...{ region: 'eu-central-1', allowed_accounts: '123456789012', tenant_id: 'abc' },
  };
  const offered = new Set(authOffers.flatMap(({ fields }) => fields.map(({ name }) => name)));
  const key = fc
    .oneof(
      fc.constantFrom('__proto__', 'constructor', 'prototype', 'type', 'name', 'required', 'token'),
      fc.string({ minLength: 1, maxLength: 12 }),
    )
    .filter(
      (name) =>
        !offered.has(name) &&
        !Object.hasOwn(firstAnswers, name) &&
        !['mode', 'settings'].includes(name),
    );
  const extra = fc.dictionary(
    key,
    fc.constantFrom<unknown>('x', 5, { __proto__: { a: 1 } }, ['a'], null),
  );
  let made = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...modes),
      extra,
      extra,
      extra,
      async (mode, top, beside, inside) => {
        made += 1;
        const name = `agent-${made}`;
        const { name: _, ...further } = top;
        const claims = { user_id: 'oid', ...inside };
        const settings = { ...inside, ...known, ...(mode === 'oidc' ? { claim_map: claims } : {}) };
        const text = JSON.stringify({ ...further, name, auth: { ...beside, mode, settings } });
        // A key `__proto__` is written into the text, as no object here would have it.
        const sent = text
          .replace('{', '{"__proto__":{"mode":"none"},')
          .replace('"settings":{', '"settings":{"__proto__":{"evil":1},');
        const answer = await fetch(`${dashboard.url}/api/create`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: sent,
        });
        expect([answer.status, await answer.text()]).toEqual([201, expect.stringContaining(name)]);
        const fields = authOffers.find((offer) => offer.mode === mode)?.fields ?? [];
        const written = serviceOf(dashboard, name).auth?.providers as { settings: object }[];
        const names = fields.map((field) => field.name);
        expect(Object.keys(written[0] ?? {})).toEqual(['type', 'settings']);
        expect(names).toEqual(expect.arrayContaining(Object.keys(written[0]?.settings ?? {})));
        const { claim_map: map = { user_id: 'oid' } } = Object(written[0]?.settings) as {
          claim_map?: object;
        };
        expect(map).toEqual({ user_id: 'oid' });
      },
    ),
    { numRuns: runs(25) },
  );
  expect(({} as { evil?: number }).evil).toBeUndefined();
});

it('no secret is in any answer, event, log or name, and its file is for its owner only', async () => {
  const said: unknown[] = [];
  const note = (...all: unknown[]) => void said.push(all);
  const log: Log = { info: note, warn: note, error: note };
  const before = process.umask(0);
  try {
    const dashboard = await openDashboard(undefined, { log });
    const events = await dashboard.stream('/api/events');
    const body = {
      ...{ name: 'desk', provider: 'openai', model: { name: 'gpt-5', key: 'sk-CANARY' } },
      channels: { slack: { bot_token: 'xoxb-CANARY', app_token: 'xapp-CANARY' } },
      security: { variables: { SHOP_KEY: 'CANARY' } },
    };
    const answers = [
      await dashboard.post('/api/wizard/preview', body),
      await dashboard.post('/api/create', { ...body, model: { name: 'gpt-5', key: 'sk CANARY' } }),
      await dashboard.post('/api/create', {
        ...body,
        security: { variables: { SHOP_KEY: 'CANARY\n' } },
      }),
      await dashboard.post('/api/create', body),
      await dashboard.post('/api/create', body),
      await dashboard.get('/api/agents'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 201, 409, 200]);
    const told = await events.until(({ event }) => event === 'agent_created');
    events.leave();
    expect(JSON.stringify([answers, told, said])).not.toContain('CANARY');
    const folder = join(dashboard.workspace, 'desk', '.service');
    expect([statSync(folder).mode & 0o777, statSync(join(folder, '.env')).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
    expect(parseEnv(readFileSync(join(folder, '.env'), 'utf8'))).toEqual({
      ...{ OPENAI_API_KEY: 'sk-CANARY', SLACK_BOT_TOKEN: 'xoxb-CANARY' },
      ...{ SLACK_APP_TOKEN: 'xapp-CANARY', SHOP_KEY: 'CANARY' },
    });
    const text = readFileSync(join(dashboard.workspace, 'desk', 'service.yaml'), 'utf8');
    expect(text).not.toContain('CANARY');
  } finally {
    process.umask(before);
  }
});

it('secrets are encrypted with a passphrase, with which the agent is then started', async () => {
  const dashboard = await openDashboard();
  const security = { variables: { SHOP_KEY: 'CANARY' }, passphrase: 'a long passphrase' };
  await dashboard.post('/api/create', { name: 'desk', security });
  const folder = join(dashboard.workspace, 'desk', '.service');
  expect(existsSync(join(folder, '.env'))).toBe(false);
  expect(readFileSync(join(folder, 'secrets.enc'), 'utf8')).not.toContain('CANARY');
  const { body } = await dashboard.get('/api/agents/desk');
  expect(body.needs_passphrase).toBe(true);
});

it('the preview shows the new agent, its hosts and its errors, and creates nothing', async () => {
  const dashboard = await openDashboard();
  const { body } = await dashboard.post('/api/wizard/preview', {
    ...{ name: 'desk', provider: 'anthropic', model: 'claude-haiku-4-5', channels: ['telegram'] },
    tools: ['web_search'],
    auth: { mode: 'oidc', issuer: 'https://id.example.com', audience: 'a' },
    egress: { hosts: 'https://no.example.com' },
  });
  expect(body).toMatchObject({
    agent_id: 'desk',
    directory: join(dashboard.workspace, 'desk'),
    complaints: { egress: expect.stringContaining('this is no host name') as string },
    missing: ['ANTHROPIC_API_KEY', 'TELEGRAM_BOT_TOKEN', 'TAVILY_API_KEY'],
  });
  const { body: mended } = await dashboard.post('/api/wizard/preview', {
    ...{ name: 'desk', provider: 'anthropic', model: 'claude-haiku-4-5', channels: ['telegram'] },
    tools: ['web_search'],
    auth: { mode: 'oidc', issuer: 'https://id.example.com', audience: 'a' },
  });
  expect(mended.complaints).toEqual({});
  expect(mended.hosts).toEqual([
    { host: 'id.example.com', origin: 'auth.providers.0' },
    { host: 'api.anthropic.com', origin: 'model' },
    { host: 'api.tavily.com', origin: 'builtin_tools' },
    { host: 'api.telegram.org', origin: 'channels.0' },
  ]);
  expect(parse(mended.files['service.yaml'])).toMatchObject({ agent_id: 'desk' });
  expect(readdirSync(dashboard.workspace)).toEqual([]);
});

it('the offers are the lists that the steps check', async () => {
  const dashboard = await openDashboard();
  const { body } = await dashboard.get('/api/wizard/meta');
  expect(Object.keys(body).toSorted()).toEqual([
    'answers',
    'approval',
    'auth',
    'channels',
    'egress_modes',
    'providers',
    'search_services',
    'skills',
    'steps',
    'tools',
  ]);
  expect(body).toMatchObject({ steps: [...steps], answers: firstAnswers });
});

it('nothing is created where the folder is not writable, and that is reported', async () => {
  const dashboard = await openDashboard();
  if (process.getuid?.() === 0) return;
  chmodSync(dashboard.workspace, 0o500);
  const { status, body } = await dashboard.post('/api/create', { name: 'x' });
  chmodSync(dashboard.workspace, 0o700);
  expect({ status, error: body.error }).toEqual({
    status: 500,
    error: `${join(dashboard.workspace, 'x')} cannot be written (EACCES)`,
  });
});

vi.setConfig({ testTimeout: 120_000 });
