import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canaryKey } from '../../helpers/model-server.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const path = '/api/settings/skill-builder';
const anthropic = { provider: 'anthropic', model: 'claude-sonnet-4-5' };

const unset = {
  provider: null,
  model: null,
  source: 'unset',
  has_key: false,
  problem: 'no model writes skills yet; name one in the settings of the skill builder',
  deprecation_warning: null,
};

/** A dashboard whose environment is `env` alone, with the files of `.service` given. */
async function page({
  env = {},
  files = {},
}: {
  env?: Record<string, string>;
  files?: Record<string, string>;
} = {}) {
  const home = temporaryFolder();
  const told: string[] = [];
  const note = (fields: object, message: string) => {
    told.push(
      `${message} ${JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? value.stack : value))}`,
    );
  };
  const dashboard = await openDashboard(
    (workspace) => {
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(join(workspace, name, '..'), { recursive: true });
        writeFileSync(join(workspace, name), content);
      }
    },
    {
      env: { PATH: process.env['PATH'], HOME: home, ...env },
      log: { info: note, warn: note, error: note },
    },
  );
  const put = (body: unknown) => dashboard.request('PUT', path, { body });
  const read = (name: string) => readFileSync(join(dashboard.workspace, '.service', name), 'utf8');
  return { dashboard, home, put, read, told };
}

describe('the settings of the skill builder', () => {
  it('are unset at first', async () => {
    const { dashboard } = await page();
    const { status, body } = await dashboard.get(path);
    const { providers, path: file, ...rest } = body;
    expect([status, rest]).toEqual([200, { ...unset, base_url: null, api_key_env: null }]);
    expect(file).toBe(join(dashboard.workspace, '.service/ui.yaml'));
    expect(providers).toContainEqual({
      name: 'anthropic',
      default_api_key_env: 'ANTHROPIC_API_KEY',
      needs_base_url: false,
    });
  });

  it('are those of the workspace after a save', async () => {
    const { dashboard, put, read } = await page();
    const settings = {
      provider: 'openai',
      model: 'gpt-5',
      base_url: 'https://models.example.com/v1',
    };
    const { status, body } = await put({ ...settings, api_key_env: 'MY_KEY', api_key: canaryKey });
    expect([status, (await dashboard.get(path)).body]).toEqual([200, body]);
    expect(body).toMatchObject({
      ...settings,
      api_key_env: 'MY_KEY',
      source: 'workspace',
      has_key: true,
    });
    expect(read('ui.yaml')).not.toContain(canaryKey);
    expect(read('.env')).toBe(`MY_KEY=${canaryKey}\n`);
  });

  it.each([
    ['an unknown provider', { ...anthropic, provider: 'nobody' }, 'provider must be one of'],
    ['a scripted model', { ...anthropic, provider: 'scripted' }, 'provider must be one of'],
    ['no model', { provider: 'anthropic' }, 'model must be the name'],
    ['an empty model', { ...anthropic, model: ' ' }, 'model must be the name'],
    [
      'a missing required address',
      { ...anthropic, provider: 'openai-compatible' },
      'needs base_url',
    ],
    ['an invalid address', { ...anthropic, base_url: 'file:///etc/passwd' }, 'base_url must be'],
    [
      'an address with a password',
      { ...anthropic, base_url: 'https://a:b@c.example' },
      'base_url must be',
    ],
    [
      'a variable that controls programs',
      { ...anthropic, api_key_env: 'LD_PRELOAD' },
      'api_key_env must be',
    ],
    ['a variable in lower case', { ...anthropic, api_key_env: 'my_key' }, 'api_key_env must be'],
    ['a variable with two lines', { ...anthropic, api_key_env: 'A=1\nB' }, 'api_key_env must be'],
    ['a key with two lines', { ...anthropic, api_key: 'a\nNODE_OPTIONS=b' }, 'no key has'],
    ['a key that is not a string', { ...anthropic, api_key: 1 }, 'api_key must be'],
    [
      'a key without a variable',
      { provider: 'ollama', model: 'qwen3', api_key: 'a' },
      'set one in api_key_env',
    ],
    ['nothing', [], 'provider must be'],
  ])('with %s are refused, and nothing is written', async (_, body, words) => {
    const { dashboard, put } = await page();
    const answer = await put(body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(words)]);
    expect(existsSync(join(dashboard.workspace, '.service'))).toBe(false);
  });

  it('store the key for its owner only, with any earlier content', async () => {
    const { dashboard, put, read } = await page({
      files: { '.service/.env': '# mine\nOTHER=1\n' },
    });
    const folder = join(dashboard.workspace, '.service');
    chmodSync(folder, 0o755);
    chmodSync(join(folder, '.env'), 0o644);
    await put({ ...anthropic, api_key: canaryKey });
    expect(read('.env')).toBe(`# mine\nOTHER=1\nANTHROPIC_API_KEY=${canaryKey}\n`);
    const modes = ['.', '.env', 'ui.yaml'].map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o600]);
    expect(read('.gitignore')).toContain('.env');
  });

  it.each([{}, { api_key: '' }, { api_key: null }])('keep the key with %j', async (more) => {
    const { put, read, dashboard } = await page();
    await put({ ...anthropic, api_key: canaryKey });
    const before = read('.env');
    const { mtimeMs } = statSync(join(dashboard.workspace, '.service/.env'));
    const { body } = await put({ ...anthropic, model: 'another', ...more });
    expect(body).toMatchObject({ model: 'another', has_key: true });
    expect(read('.env')).toBe(before);
    expect(statSync(join(dashboard.workspace, '.service/.env')).mtimeMs).toBe(mtimeMs);
  });

  it('show the key in no answer and no line of the log (WEB-8)', async () => {
    const { dashboard, put, told } = await page();
    const paths = [path, '/api/skill-builder/provider', '/api/workspace', '/api/agents'];
    const answers = [
      await put({ ...anthropic, api_key: canaryKey }),
      await put({ ...anthropic, provider: 'nobody', api_key: canaryKey }),
      await put({ ...anthropic, api_key_env: canaryKey, api_key: `${canaryKey} x` }),
      await put(`{"api_key": "${canaryKey}"`),
      ...(await Promise.all(paths.map((one) => dashboard.get(one)))),
    ];
    const bytes = answers.map(({ body, headers }) => JSON.stringify([body, [...headers]])).join();
    expect(bytes).not.toContain(canaryKey);
    expect(told.join()).not.toContain(canaryKey);
    expect(told.join()).toContain('the settings of the skill builder were changed');
  });

  it('that are broken are reported, and replaced by the next ones', async () => {
    const { dashboard, put } = await page({ files: { '.service/ui.yaml': 'provider: [a\n' } });
    const { body } = await dashboard.get(path);
    expect([body.source, body.problem]).toEqual(['unset', expect.stringContaining('ui.yaml: ')]);
    expect((await put(anthropic)).body).toMatchObject({ source: 'workspace', has_key: false });
  });

  it('are refused where a link is in place of their folder', async () => {
    const elsewhere = temporaryFolder();
    const { symlinkSync } = await import('node:fs');
    const { dashboard, put } = await page();
    symlinkSync(elsewhere, join(dashboard.workspace, '.service'));
    expect((await put({ ...anthropic, api_key: canaryKey })).status).toBe(400);
    expect(existsSync(join(elsewhere, '.env'))).toBe(false);
  });
});

describe('the model that writes skills', () => {
  const status = '/api/skill-builder/provider';
  const agents = {
    'one/service.yaml': 'agent_id: one\nmodel: {provider: anthropic, name: claude-one}\n',
    'one/.service/.env': 'ANTHROPIC_API_KEY=key-of-one\n',
    'two/service.yaml': 'agent_id: two\nmodel: {provider: openai, name: gpt-two}\n',
    'script/service.yaml': 'agent_id: script\n',
  };
  const ofAgent = (id: string) => `/api/agents/${id}/skill-builder/provider`;

  it('comes from the first of workspace, user and agent', async () => {
    const { dashboard, home, put } = await page({ files: agents });
    expect((await dashboard.get(status)).body).toEqual(unset);
    expect((await dashboard.get(ofAgent('script'))).body).toEqual(unset);
    expect((await dashboard.get(ofAgent('one'))).body).toEqual({
      ...{ provider: 'anthropic', model: 'claude-one', source: 'agent_fallback', has_key: true },
      ...{
        problem: null,
        deprecation_warning: expect.stringContaining('set a model in the settings'),
      },
    });
    mkdirSync(join(home, '.config/holdpoint'), { recursive: true });
    writeFileSync(
      join(home, '.config/holdpoint/ui.yaml'),
      'provider: google\nmodel: gemini-user\n',
    );
    writeFileSync(join(home, '.config/holdpoint/.env'), 'GOOGLE_GENERATIVE_AI_API_KEY=k\n');
    const user = {
      ...{ provider: 'google', model: 'gemini-user', source: 'user', has_key: true },
      ...{ problem: null, deprecation_warning: null },
    };
    expect((await dashboard.get(status)).body).toEqual(user);
    expect((await dashboard.get(ofAgent('one'))).body).toEqual(user);
    await put({ provider: 'ollama', model: 'qwen3' });
    const own = { ...user, provider: 'ollama', model: 'qwen3', source: 'workspace' };
    expect((await dashboard.get(status)).body).toEqual(own);
    expect((await dashboard.get(ofAgent('one'))).body).toEqual(own);
  });

  it('has only the key of its own agent, and changes no environment', async () => {
    const before = { ...process.env };
    const { dashboard } = await page({ files: agents });
    const told = async (id: string) => (await dashboard.get(ofAgent(id))).body;
    expect((await told('one')).has_key).toBe(true);
    expect(await told('two')).toMatchObject({ source: 'agent_fallback', has_key: false });
    expect((await told('one')).has_key).toBe(true);
    expect({ ...process.env }).toEqual(before);
  });

  it('gets the keys of the environment at the default address only', async () => {
    const env = { ANTHROPIC_API_KEY: canaryKey, CLOUD_SECRET: canaryKey };
    const { dashboard, put } = await page({ env });
    const hasKey = async (more: object) => (await put({ ...anthropic, ...more })).body.has_key;
    expect(await hasKey({})).toBe(true);
    expect(await hasKey({ base_url: 'https://evil.example' })).toBe(false);
    expect(await hasKey({ api_key_env: 'CLOUD_SECRET' })).toBe(false);
    expect((await dashboard.get(status)).body.problem).toBe(
      'there is no key in CLOUD_SECRET; give it in the settings',
    );
  });

  it('gets a key over https only, except on this machine', async () => {
    const { put } = await page();
    const told = async (base_url: string) =>
      (await put({ ...anthropic, base_url, api_key: 'k' })).body.problem;
    expect(await told('http://models.example.com')).toContain('in the clear');
    expect(await told('https://models.example.com')).toBeNull();
    expect(await told('http://127.0.0.1:8000')).toBeNull();
  });

  it('is not named for a missing agent', async () => {
    const { dashboard } = await page();
    const answers = await Promise.all(
      ['nobody', '..%2f..'].map((id) => dashboard.get(ofAgent(id))),
    );
    expect(answers.map((one) => one.status)).toEqual([404, 400]);
  });
});
