import { describe, expect, it } from 'vitest';
import { cardSchemes } from '../../../src/actors/access/auth/auth.ts';
import { encodeCard } from '../../../src/actors/card/card-publisher.ts';
import { type CardBasis, partsOf } from '../../../src/actors/card/gather-parts.ts';
import { type ServiceConfig, serviceSchema } from '../../../src/actors/config/service-schema.ts';
import type { Skill } from '../../../src/actors/tools/skills/skills.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const canary = 'zz-canary-zz';

/** A configuration with something in every part that takes strings. */
const complete = serviceSchema.parse({
  agent_id: 'till',
  version: '1.2.0',
  description: 'Pays',
  model: {
    provider: 'openai-compatible',
    name: 'm',
    base_url: 'https://models.example.com',
    organization_id: 'org',
    fallbacks: [{ provider: 'anthropic', name: 'f' }],
    script: [{ tool: 'pay', args: { to: 'ann' } }, { say: 'done' }],
  },
  builtin_tools: ['http_request'],
  tools: [{ name: 'pay', config: { key: 'value' } }],
  skills: { path: 'SKILL.md' },
  channels: ['slack'],
  egress: { allowed_domains: ['api.example.com'], allowed_private_cidrs: ['10.0.0.0/8'] },
  workflow_propagation: { allowed_hosts: ['api.example.com'] },
  card: { security_schemes: { mine: { type: 'http', scheme: 'digest' } } },
  auth: {
    required: true,
    providers: [
      {
        type: 'static_token',
        name: 'ops',
        settings: {
          token_env: 'TOKEN',
          token: 'secret',
          identity: { user_id: 'u', email: 'u@example.com', claims: { acr: 'gold' } },
        },
      },
      { type: 'http_verifier', settings: { url: 'https://v.example.com', default_org: 'acme' } },
      {
        type: 'oidc',
        name: 'sso',
        settings: {
          issuer: 'https://issuer.example.com',
          audience: 'agent',
          client_id: 'client',
          jwks_url: 'https://keys.example.com',
          claim_map: { email: 'mail' },
        },
      },
      { type: 'directory_ad', settings: { tenant_id: 'tenant-1', audience: 'agent' } },
      { type: 'cloud_iap', settings: { audience: '/projects/1' } },
      {
        type: 'cloud_sigv4',
        settings: {
          region: 'eu-west-1',
          audience: 'agent',
          allowed_accounts: ['123456789012'],
          allowed_principals: ['arn:aws:iam::123456789012:role/x'],
          sts_url: 'https://sts.example.com',
        },
      },
    ],
  },
  server: {
    public_url: 'https://agents.example.com',
    cors_origins: ['https://app.example.com'],
    rate_limit: { trusted_proxies: ['10.0.0.1'] },
  },
  security: {
    intent_alignment: { provider: 'openai', model: 'embedder' },
    step_up: { tools: { pay: 'gold' }, acr_hierarchy: ['gold'] },
    modify: {
      tools: {
        pay: {
          arguments: [{ path: 'to', set: 'x' }],
          output: [{ replace: { pattern: 'a', with: 'b' } }],
        },
      },
    },
    guardrails: {
      deny_commands: [{ pattern: 'rm', message: 'no' }],
      deny_prompts: [{ pattern: 'p' }],
      deny_output: [{ pattern: 'o', action: 'block' }],
      denied_tools: ['pay'],
      redact: ['secrets'],
    },
    defer: {
      default_approvers: ['ann@example.com'],
      tools: {
        pay: {
          to: 'channel:slack:#money',
          context_template: '{tool}',
          approvers: ['bob@example.com'],
        },
      },
    },
  },
  credentials: [{ tool: 'pay', provider: 'static', spec: { env: { KEY: 'value' } } }],
  audit: {
    path: 'audit.ndjson',
    signing: { key_env: 'KEY', kid: 'kid-1' },
    sinks: [
      { type: 'http', url: 'https://sink.example.com', token_env: 'SINK' },
      { type: 'unix', path: 'audit.sock' },
    ],
  },
  observability: { tracing: { endpoint: 'https://otel.example.com', service_name: 's' } },
  store: { path: 'tasks.db' },
  secrets: { path: 'secrets.enc' },
});

const skill: Skill = {
  id: 'pay',
  name: 'Pay',
  description: 'Pays money',
  category: 'money',
  tags: ['fast'],
  file: 'SKILL.md',
  body: 'Be careful',
  tools: [],
  requires: { bins: ['curl'], env: { required: ['A'], oneOf: ['B'], optional: ['C'] } },
  egressDomains: ['api.example.com'],
};

/** What a card is meant to say, as paths; a star stands for one step. */
const shown = [
  'config.version',
  'config.description',
  'config.server.public_url',
  'config.card.security_schemes.mine.*',
  'config.auth.providers.*.name',
  'config.auth.providers.2.settings.issuer',
  'config.auth.providers.3.settings.tenant_id',
  'config.auth.providers.3.settings.authority',
  'skill.id',
  'skill.name',
  'skill.description',
  'skill.category',
  'skill.tags.*',
];

/** Every string of a value with the path that leads to it; a type is a word of ours, and decides what is read. */
function stringsOf(value: unknown, path: string[]): string[][] {
  if (typeof value === 'string') return path.at(-1) === 'type' ? [] : [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => stringsOf(member, [...path, key]));
}

function withCanary(value: object, [first = '', ...rest]: string[]): object {
  const copy = structuredClone(value);
  const holder = rest.length === 0 ? copy : Reflect.get(copy, first);
  if (rest.length === 0) Reflect.set(copy, first, canary);
  else Reflect.set(copy, first, withCanary(holder as object, rest));
  return copy;
}

function cardsOf(config: ServiceConfig, one: Skill): string {
  const basis: CardBasis = {
    directory: temporaryFolder(),
    env: {},
    agentId: 'till',
    tools: [],
    declared: cardSchemes(config.auth.providers),
    isAuthOn: true,
    address: 'http://127.0.0.1:8080',
    seen: () => undefined,
    log: { info() {}, warn() {}, error() {} },
  };
  const { versions, event } = encodeCard(partsOf(basis, config, [one]));
  const cards = Object.values(versions).map(({ body }) => String(body));
  return `${cards.join('')}${JSON.stringify(event)}`;
}

const matches = (pattern: string, place: string): boolean =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^.]+')}$`).test(place);

describe('the card', () => {
  const places = [...stringsOf(complete, ['config']), ...stringsOf(skill, ['skill'])].map((path) =>
    path.join('.'),
  );

  it('is searched completely', () => {
    expect(places.length).toBeGreaterThan(90);
    const unseen = shown.filter((pattern) => !places.some((place) => matches(pattern, place)));
    expect(unseen).toEqual([]);
  });

  it.each(places)('contains %s only where it is meant to', (place) => {
    const [root, ...path] = place.split('.');
    const text =
      root === 'config'
        ? cardsOf(withCanary(complete, path) as ServiceConfig, skill)
        : cardsOf(complete, withCanary(skill, path) as Skill);
    expect(text.includes(canary)).toBe(shown.some((pattern) => matches(pattern, place)));
  });
});
