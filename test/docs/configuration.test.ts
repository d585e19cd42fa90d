import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import {
  exampleOf,
  isContainer,
  type Key,
  keysOf,
  pathText,
} from '../../scripts/configuration/keys.ts';
import { configurationPage, describedFiles } from '../../scripts/configuration/page.ts';
import { parseConfig } from '../../src/actors/config/config.ts';
import { channelSchemas } from '../../src/actors/config/schema-channels.ts';
import { dashboardSchema } from '../../src/actors/config/schema-dashboard.ts';
import type { JsonSchema } from '../../src/actors/config/service-json-schema.ts';
import { frontmatterSchema } from '../../src/actors/tools/skills/frontmatter-schema.ts';
import { anEmptyPolicy } from '../helpers/empty-policy.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
const { 'service.yaml': service = {}, ...others } = describedFiles();
const keys = keysOf(service);
const env = {
  APPROVALS_CLIENT_SECRET: 'secret-of-the-page',
  ACS_HMAC_SECRET: 'secret-of-the-clients-of-the-gate',
  SERVICE_TOKEN: 'token-of-ops',
  SERVICE_METRICS_TOKEN: 'token-of-the-metrics',
  SHOP_CLIENT_SECRET: 'secret',
  SHOP_KEY: 'key-of-the-shop',
  LOG_TOKEN: 'token-of-the-log',
  SHOP_TOKEN: 'token-of-the-shop',
  ANTHROPIC_API_KEY: 'key-of-the-model',
  SERVICE_DATABASE_URL: 'postgres://agent@db.example.com/agents',
  REFUNDS_DATABASE_URL: 'postgres://agent@db.example.com/refunds',
  SERVICE_AUDIT_SIGNING_KEY: generateKeyPairSync('ed25519').privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string,
};

const signsIn = { providers: [{ type: 'static_token', settings: { token_env: 'SERVICE_TOKEN' } }] };

const servers = (server: object) => ({ mcp: { servers: [server] } });

/** What keys need beside them to be of use, by how their paths begin. */
const beside: readonly (readonly [string, object])[] = [
  ['model.provider', { model: { name: 'example-model' } }],
  ['auth.required', { auth: signsIn }],
  ['approvals', { auth: signsIn }],
  [
    'security.step_up.enabled',
    { auth: signsIn, security: { step_up: { tools: { example: 'gold' } } } },
  ],
  [
    'security.defer.enabled',
    { security: { defer: { tools: { example: { to: 'channel:console:*' } } } } },
  ],
  ['security.intent_alignment.enabled', { security: { intent_alignment: { provider: 'local' } } }],
  [
    'security.defer.tools.<name>.quorum',
    { security: { defer: { default_approvers: ['ann@example.com', 'bob@example.com'] } } },
  ],
  ...['url_env', 'schema', 'pool'].map(
    (key) => [`store.${key}`, { store: { kind: 'postgres' } }] as const,
  ),
  ['mcp.servers[].url', servers({ tools: { deny: [] } })],
  ['mcp.servers[].headers', servers({ url: 'https://a.example', tools: { deny: [] } })],
  [
    'mcp.servers[].auth',
    servers({
      url: 'https://a.example',
      tools: { deny: [] },
      auth: { type: 'client_credentials', client_id: 'a', client_secret: 'b' },
    }),
  ],
  [
    'mcp.servers[].elicitation',
    {
      ...servers({ command: 'node', tools: { deny: [] } }),
      security: {
        defer: {
          enabled: true,
          tools: { shop__elicitation: { to: 'channel:console:*', edit: true } },
        },
      },
    },
  ],
  ['mcp.servers[].tools', servers({ command: 'node' })],
  ['mcp.servers[]', servers({ command: 'node', tools: { deny: [] } })],
  ...['provider', 'base_url', 'api_key_env'].map(
    (key) => [`tools[].config.${key}`, { tools: [{ name: 'web_search' }] }] as const,
  ),
  ...['commands', 'timeout'].map(
    (key) => [`tools[].config.${key}`, { tools: [{ name: 'cli_execute' }] }] as const,
  ),
  [
    'credentials[]',
    {
      credentials: [
        {
          tool: 'issue_refund',
          provider: 'static',
          spec: { env: { SHOP_KEY: { from_env: 'SHOP_KEY' } } },
        },
      ],
    },
  ],
];

/** What providers of a type need beside what is required of each. */
const providerNeeds: Record<string, object> = {
  static_token: { token_env: 'SERVICE_TOKEN' },
  oidc: { audience: 'refunds' },
  cloud_sigv4: { allowed_accounts: ['123456789012'] },
};

describe('the reference of the configuration', () => {
  it('is what the schemas say', () => {
    expect(page).toBe(configurationPage());
  });

  it('has a row for every key that the daemon knows', () => {
    const missing = keys
      .map(({ path }) => pathText(path))
      .filter((path) => !page.includes(`| \`${path}\` |`));
    const sections = Object.entries(service.properties ?? {})
      .filter(([, { type }]) => type === 'object')
      .map(([name]) => name);
    const layers = Object.keys(service.properties?.['security']?.properties ?? {});
    const headed = [...sections, ...layers.map((layer) => `security.${layer}`)];
    expect(missing.filter((path) => !headed.includes(path))).toEqual([]);
    for (const name of headed) expect(page).toMatch(new RegExp(`^##+ ${name}$`, 'm'));
  });

  it.each(keys.map((key) => [pathText(key.path), key] as const))(
    'shows an example that can be used for %s',
    (path, key) => {
      const example = exampleOf(key);
      if (example === undefined) return;
      const text = stringify(fileWith(key));
      const reading = parseConfig(text, { file: path, env, readInclude: anEmptyPolicy });
      expect({ text, problems: reading.ok ? [] : reading.problems }).toEqual({
        text,
        problems: [],
      });
    },
  );

  it('shows examples that channels, skills and the dashboard can use', () => {
    for (const [file, schema] of Object.entries(others)) {
      const content = contentOf(schema);
      const [adapter = ''] = file.split('-config');
      const own = { 'SKILL.md': frontmatterSchema, 'dashboard.yaml': dashboardSchema };
      const reader = own[file as 'SKILL.md'] ?? channelSchemas[adapter as 'slack'];
      expect(reader.safeParse(content)).toMatchObject({ success: true });
    }
  });

  it('says of every value that is refused that it is not there', () => {
    const refused = keys.flatMap((key) => {
      const { enum: choices = key.schema.items?.enum ?? [], description } = key.schema;
      const isList = key.schema.items !== undefined;
      const bad = choices.filter((choice) => {
        const text = stringify(fileWith(key, isList ? [choice] : choice));
        const reading = parseConfig(text, { file: 'service.yaml', env });
        const problems = reading.ok ? [] : reading.problems;
        return problems.some(({ message }) => message.includes('not available in this version'));
      });
      return bad.length > 0 && !description?.includes('not available in this version')
        ? [[pathText(key.path), bad]]
        : [];
    });
    expect(refused).toEqual([]);
  });

  it('takes no key without an example', () => {
    const [key] = keysOf({ properties: { wait: { type: 'string', description: 'A wait.' } } });
    expect(() => exampleOf(key as Key)).toThrow('wait has no example; write one into its schema');
  });
});

describe('npm run configuration', () => {
  it('writes a page that --check accepts, and names a stale one with the command to run', () => {
    const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'configuration.md');
    expect(run('--out', file)).toEqual({ status: 0, stderr: '' });
    expect(run('--out', file, '--check')).toEqual({ status: 0, stderr: '' });
    writeFileSync(file, '');
    expect(run('--out', file, '--check')).toEqual({
      status: 1,
      stderr: 'docs/configuration.md is stale; run npm run configuration and commit it\n',
    });
  });
});

/** A file with one key as the page shows it, and with what must stand beside it. */
function fileWith(key: Key, value: unknown = exampleOf(key)): object {
  const path = pathText(key.path);
  const [, more] = beside.find(([start]) => path.startsWith(start)) ?? [];
  const file = { agent_id: 'a', ...structuredClone(more) };
  place(file, service, key, key.path, value);
  return file;
}

function place(
  into: object,
  schema: JsonSchema,
  key: Key,
  path: readonly string[],
  value: unknown,
): void {
  const [name = '', ...rest] = path;
  const holder = into as Record<string, unknown>;
  const option = chosen(schema, key);
  fillRequired(holder, option);
  const next = name === '<name>' ? option.additionalProperties : option.properties?.[name];
  const at = name === '<name>' ? 'example' : name;
  if (rest.length === 0) {
    holder[at] = value;
    return;
  }
  if (typeof next !== 'object') throw new Error(`there is no ${pathText(key.path)}`);
  if (rest[0] === '[]') {
    const [entry = {}] = (holder[at] ?? []) as object[];
    holder[at] = [entry];
    const list = [next, ...(next.anyOf ?? [])].find(({ items }) => items !== undefined);
    place(entry, list?.items ?? {}, key, rest.slice(1), value);
    if (name === 'providers') addNeeds(entry);
    return;
  }
  const inner = (holder[at] ?? {}) as object;
  holder[at] = inner;
  place(inner, next, key, rest, value);
}

function addNeeds(provider: { type?: string; settings?: object }): void {
  if (Object.hasOwn(provider.settings ?? {}, 'token')) return;
  provider.settings = { ...providerNeeds[provider.type ?? ''], ...provider.settings };
}

/** The kind of entry that a key belongs to. */
function chosen(schema: JsonSchema, key: Key): JsonSchema {
  const { schema: wanted } = key;
  const options = schema.anyOf ?? schema.oneOf ?? [];
  const isFor = (option: JsonSchema) =>
    keysOf(option).some((one) => one.schema === wanted) ||
    JSON.stringify(option).includes(JSON.stringify(wanted));
  const found = options.find(isFor);
  if (found === undefined) return schema;
  return found.properties === undefined ? chosen(found, key) : found;
}

function fillRequired(
  holder: Record<string, unknown>,
  { properties = {}, required = [] }: JsonSchema,
): void {
  for (const [name, child] of Object.entries(properties)) {
    const isNeeded = required.includes(name);
    if (isNeeded)
      holder[name] ??= isContainer(keyOf(name, child))
        ? contentOf(child)
        : exampleOf(keyOf(name, child));
    else if (child.required !== undefined && child.default !== undefined)
      holder[name] ??= contentOf(child);
  }
}

function keyOf(name: string, schema: JsonSchema): Key {
  return { path: [name], schema, isRequired: true };
}

/** Everything that a map may hold, as its examples say. */
function contentOf(schema: JsonSchema): object {
  const entries = Object.entries(schema.properties ?? {}).map(([name, child]) => {
    const example = exampleOf(keyOf(name, child));
    return [name, example ?? contentOf(child)] as const;
  });
  return Object.fromEntries(entries);
}

function run(...args: string[]): { status: number | null; stderr: string } {
  const script = join(root, 'scripts/configuration.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  return { status, stderr };
}
