import { generateKeyPairSync } from 'node:crypto';
import { exampleOf, type Key, keysOf, pathText } from '../../scripts/configuration/keys.ts';
import { describedFiles } from '../../scripts/configuration/page.ts';
import type { JsonSchema } from '../../src/actors/config/json-schema.ts';

const { 'service.yaml': service = {} } = describedFiles();

/** Variables that the examples of the keys name. */
export const environmentOfExamples = {
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

/** The other keys that keys need to be valid, by the beginnings of their paths. */
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
  ['security.limits.<name>.per.', { security: { limits: { example: { per: {}, over: 'deny' } } } }],
  ['security.limits', { security: { limits: { example: { over: 'deny' } } } }],
  ['security.effects', { security: { effects: { example: { repeat: 'deny' } } } }],
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

/** The keys that providers of a type need in addition to the required ones. */
const providerNeeds: Record<string, object> = {
  static_token: { token_env: 'SERVICE_TOKEN' },
  oidc: { audience: 'refunds' },
  cloud_sigv4: { allowed_accounts: ['123456789012'] },
};

/** Returns a `service.yaml` with one key as the page shows it, and the keys that it needs. */
export function fileWith(key: Key, value: unknown = exampleOf(key)): object {
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
    if (isNeeded) holder[name] ??= exampleOf(keyOf(name, child)) ?? contentOf(child);
    else if (child.required !== undefined && child.default !== undefined)
      holder[name] ??= contentOf(child);
  }
}

function keyOf(name: string, schema: JsonSchema): Key {
  return { path: [name], schema, isRequired: true };
}

/** Returns a map with all its keys, as their examples show them. */
export function contentOf(schema: JsonSchema): object {
  const entries = Object.entries(schema.properties ?? {}).map(([name, child]) => {
    const example = exampleOf(keyOf(name, child));
    return [name, example ?? contentOf(child)] as const;
  });
  return Object.fromEntries(entries);
}
