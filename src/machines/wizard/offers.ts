import { usualKeyVariable } from '../models/key-variable.ts';
import type { Field } from './field.ts';

/** A model provider and its settings. */
export interface ProviderOffer {
  name: string;
  label: string;
  /** Known models; any other may be entered. Empty for a provider without models. */
  models: readonly string[];
  /** Whether a base URL is required, optional or not configurable. */
  address: 'required' | 'optional' | 'none';
  /** The variable of its API key; `null` for a provider without a key. */
  variable: string | null;
  /** True if a billing organisation can be configured. */
  organization: boolean;
}

/** The variable for the API key of a self-hosted server. */
const ownServerVariable = 'MODEL_API_KEY';

/** The answer at the step of the provider that makes a gate: it has no model and governs calls of other programs. */
export const gateProvider = 'gate';

/** The providers in display order. */
export const providers: readonly ProviderOffer[] = [
  provider('scripted', 'A script (needs no key)', [], {}),
  provider('openai', 'OpenAI', ['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-4.1'], {
    address: 'optional',
    organization: true,
  }),
  provider('anthropic', 'Anthropic', ['claude-sonnet-4-5', 'claude-opus-4-1', 'claude-haiku-4-5'], {
    address: 'optional',
  }),
  provider('google', 'Google Gemini', ['gemini-2.5-pro', 'gemini-2.5-flash'], {
    address: 'optional',
  }),
  provider('ollama', 'Ollama on this machine', ['qwen3', 'llama3.2', 'mistral'], {
    address: 'optional',
  }),
  provider('openai-compatible', 'OpenAI-compatible server', [], {
    address: 'required',
    variable: ownServerVariable,
  }),
  provider(gateProvider, 'No model: a gate for calls of other programs', [], {}),
];

/** The providers that have models. */
export const modelProviders: readonly ProviderOffer[] = providers.filter(
  ({ name }) => name !== 'scripted' && name !== gateProvider,
);

function provider(
  name: string,
  label: string,
  models: readonly string[],
  more: Partial<ProviderOffer>,
): ProviderOffer {
  const variable = usualKeyVariable(name);
  return { name, label, models, address: 'none', variable, organization: false, ...more };
}

/** Finds a provider by its name. */
export function providerOffer(name: string): ProviderOffer | undefined {
  return providers.find((offer) => offer.name === name);
}

/** A builtin tool. */
export interface ToolOffer {
  name: string;
  about: string;
  /** True if a call may change something; the tool is then held by default. */
  changes?: true;
}

/** The builtin tools offered for a new agent. */
export const tools: readonly ToolOffer[] = [
  { name: 'datetime_now', about: 'tells the time' },
  { name: 'uuid_generate', about: 'makes identifiers' },
  { name: 'math_calculate', about: 'calculates' },
  { name: 'json_query', about: 'reads JSON' },
  { name: 'csv_parse', about: 'reads tables' },
  { name: 'http_request', about: 'sends requests to listed hosts', changes: true },
  { name: 'web_fetch', about: 'reads pages of listed hosts' },
  { name: 'web_search', about: 'searches the web with a service and its key' },
  { name: 'file_read', about: "reads the agent's files" },
  { name: 'file_write', about: "writes the agent's files", changes: true },
  { name: 'file_edit', about: "changes the agent's files", changes: true },
  { name: 'glob_search', about: 'finds files by name' },
  { name: 'grep_search', about: 'finds files by their content' },
  { name: 'cli_execute', about: 'runs listed programs in a sandbox', changes: true },
];

/** The search services for `web_search`. */
export const searchServices = [
  { name: 'tavily', label: 'Tavily', variable: 'TAVILY_API_KEY' },
  { name: 'perplexity', label: 'Perplexity', variable: 'PERPLEXITY_API_KEY' },
] as const;

/** A chat platform or a webhook. */
export interface ChannelOffer {
  name: string;
  label: string;
  /** True if held calls can be decided there. */
  decides: boolean;
  fields: readonly Field[];
}

/** The optional channels; `console` and `dashboard` are always enabled. */
export const channels: readonly ChannelOffer[] = [
  {
    name: 'slack',
    label: 'Slack',
    decides: true,
    fields: [
      token('bot_token', 'Bot token', 'SLACK_BOT_TOKEN', 'xoxb-…', 'xoxb-[\\x21-\\x7e]+'),
      token('app_token', 'App-level token', 'SLACK_APP_TOKEN', 'xapp-…', 'xapp-[\\x21-\\x7e]+'),
    ],
  },
  {
    name: 'telegram',
    label: 'Telegram',
    decides: false,
    fields: [
      token('bot_token', 'Token of the bot', 'TELEGRAM_BOT_TOKEN', '123456:ABC…', '\\d+:[\\w-]+'),
      {
        name: 'allowed_users',
        label: 'Allowed users',
        kind: 'list',
        required: false,
        example: '12345, @ann',
        pattern: '[1-9]\\d*|@?[A-Za-z]\\w*',
      },
    ],
  },
  {
    name: 'webhook',
    label: 'Webhook',
    decides: true,
    fields: [
      {
        name: 'target',
        label: 'Name of the receiver',
        kind: 'text',
        required: true,
        example: 'ops',
        pattern: '[a-z0-9]+(?:-[a-z0-9]+)*',
      },
      {
        name: 'url',
        label: 'Address that is posted to',
        kind: 'url',
        required: true,
        example: 'https://ops.example.com/approvals',
      },
      token(
        'secret',
        'Secret of the signature',
        'WEBHOOK_SECRET',
        'output of openssl rand -base64 32',
        'whsec_(?:[A-Za-z0-9+/]{4}){6,}(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?|(?!whsec_)[\\x21-\\x7e]{16,}',
      ),
    ],
  },
];

function token(
  name: string,
  label: string,
  variable: string,
  example: string,
  pattern: string,
): Field {
  return { name, label, kind: 'secret', required: false, example, pattern, variable };
}

/** Finds a channel by its name. */
export function channelOffer(name: string): ChannelOffer | undefined {
  return channels.find((offer) => offer.name === name);
}

/** An authentication method for callers, or none. */
export interface AuthOffer {
  /** The type of an entry of `auth.providers`, or `none` or `custom`. */
  mode: string;
  label: string;
  fields: readonly Field[];
}

/** The authentication methods (docs/contract/dashboard.md). */
export const authOffers: readonly AuthOffer[] = [
  { mode: 'none', label: 'None: anyone on this machine', fields: [] },
  {
    mode: 'oidc',
    label: 'OIDC (JWT)',
    fields: [
      url('issuer', 'Issuer', true, 'https://id.example.com'),
      list('audience', 'Audience', true, 'refunds'),
      text('client_id', 'Client id', false, 'refunds-desk'),
      url('jwks_url', 'Address of the keys', false, 'https://id.example.com/keys'),
      {
        name: 'claim_map',
        label: 'Claims',
        kind: 'map',
        required: false,
        example: 'upn',
        keys: ['user_id', 'email', 'org_id', 'workspace_id', 'acr'],
      },
    ],
  },
  {
    mode: 'http_verifier',
    label: 'HTTP verifier',
    fields: [
      url('url', 'Address of the verifier', true, 'https://verify.example.com/token'),
      text('default_org', 'Default organisation', false, 'acme'),
    ],
  },
  {
    mode: 'cloud_sigv4',
    label: 'AWS IAM (signed request)',
    fields: [
      text('region', 'Region', true, 'eu-central-1', '[a-z]{2,}(?:-[a-z]+)+-\\d{1,2}'),
      text('audience', 'Audience', false, 'urn:refunds', '[\\x21-\\x7e]+'),
      list('allowed_accounts', 'Accounts that may sign in', true, '123456789012', '\\d{12}'),
    ],
  },
  {
    mode: 'cloud_iap',
    label: 'GCP identity-aware proxy',
    fields: [
      list('audience', 'Id of the backend service', true, '/projects/123456789012/apps/refunds'),
    ],
  },
  {
    mode: 'directory_ad',
    label: 'Microsoft Entra, one tenant',
    fields: [
      text(
        'tenant_id',
        'Id of the tenant',
        true,
        '11111111-2222-3333-4444-555555555555',
        '[0-9A-Za-z-]+',
      ),
      list('audience', 'Audience', true, 'api://refunds'),
    ],
  },
  { mode: 'custom', label: 'Custom: a comment to fill in by hand', fields: [] },
];

function text(
  name: string,
  label: string,
  required: boolean,
  example: string,
  pattern?: string,
): Field {
  const field: Field = { name, label, kind: 'text', required, example };
  return pattern === undefined ? field : { ...field, pattern };
}

function url(name: string, label: string, required: boolean, example: string): Field {
  return { ...text(name, label, required, example), kind: 'url' };
}

function list(
  name: string,
  label: string,
  required: boolean,
  example: string,
  pattern?: string,
): Field {
  return { ...text(name, label, required, example, pattern), kind: 'list' };
}

/** Finds an authentication method by its mode. */
export function authOffer(mode: string): AuthOffer | undefined {
  return authOffers.find((offer) => offer.mode === mode);
}

/** Egress modes. */
export const egressModes = ['allowlist', 'deny-all', 'dev-open'] as const;

/** A skill of the registry, as described by its file. */
export interface SkillOffer {
  name: string;
  description: string;
  category: string;
  tools: readonly string[];
  /** Tools that the skill recommends to hold. */
  held: readonly string[];
  /** Hosts that its scripts request. */
  egress_domains: readonly string[];
  /** Variables passed to its scripts: all of `required`, one of `one_of`, any of `optional`. */
  env: {
    required: readonly string[];
    one_of: readonly string[];
    optional: readonly string[];
  };
}

/** The options that depend on this installation. */
export interface WizardOffer {
  skills: readonly SkillOffer[];
  /** Providers that support a browser sign-in instead of an API key. */
  signIn: readonly string[];
}
