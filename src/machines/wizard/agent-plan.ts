import type { JsonObject, JsonValue } from '../json.ts';
import { type AgentAnswers, type ApprovalAnswer, agentId } from './agent-answers.ts';
import { agentVariables, fallbackVariable, modelVariable } from './agent-variables.ts';
import type { FieldValue, FieldValues } from './field.ts';
import { authOffer, gateProvider, providerOffer, searchServices } from './offers.ts';
import { variableHosts } from './variable-hosts.ts';

/** The files of a new agent before they are written. */
export interface AgentPlan {
  agentId: string;
  /** The content of `service.yaml`; `null` for a gate, which has that of its example. */
  service: JsonObject | null;
  /** Comment at the end of `service.yaml`; empty for none. */
  note: string;
  /** Contents of the channel files by file name. */
  channelFiles: Readonly<Record<string, JsonObject>>;
  /** The variables to store, each with its value. */
  variables: ReadonlyMap<string, string>;
  /** The required variables that are not stored, so the environment must provide them. */
  missing: readonly string[];
  skills: readonly string[];
  /** Empty for none. */
  passphrase: string;
}

/** Builds the plan of an agent from valid answers. Variable references in typed text are escaped and not expanded. */
export function agentPlan(answers: AgentAnswers): AgentPlan {
  const id = agentId(answers.name);
  const listed = agentVariables(answers);
  const kept = new Map(
    listed.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]),
  );
  const needed = listed.filter(({ source }) => source !== 'security' && source !== 'skills');
  const missing = [...new Set(needed.map(({ name }) => name))].filter((name) => !kept.has(name));
  return {
    agentId: id,
    service: answers.provider === gateProvider ? null : literal(serviceOf(id, answers)),
    note: answers.auth.mode === 'custom' ? customNote : '',
    channelFiles: Object.fromEntries(
      Object.entries(channelFiles(answers)).map(([file, content]) => [file, literal(content)]),
    ),
    variables: kept,
    missing:
      answers.model.session === ''
        ? missing
        : missing.filter((name) => name !== modelVariable(answers)),
    skills: answers.skills.names,
    passphrase: answers.security.passphrase,
  };
}

const customNote = ` Write your own authentication, such as:
 auth:
   providers:
     - type: oidc
       settings: {issuer: https://id.example.com, audience: this-agent}`;

function serviceOf(id: string, answers: AgentAnswers): JsonObject {
  const { provider, tools, channels, approvals } = answers;
  const isScripted = provider === 'scripted';
  return {
    agent_id: id,
    version: '0.1.0',
    description: `The agent ${id}`,
    model: modelOf(answers),
    ...(isScripted ? {} : { instructions: 'You are a helpful agent. Answer in a few sentences.' }),
    builtin_tools: [...tools.names],
    ...toolSettings(answers),
    ...(Object.keys(channels).length === 0 ? {} : { channels: Object.keys(channels) }),
    ...egressOf(answers),
    ...authOf(answers),
    audit: { sign: true },
    ...(Object.keys(approvals).length === 0
      ? {}
      : { security: { defer: { enabled: true, tools: rulesOf(approvals) } } }),
  };
}

function modelOf(answers: AgentAnswers): JsonObject {
  const { provider, model, fallback } = answers;
  if (provider === 'scripted') return { provider };
  const { name, address, organization } = model;
  return {
    provider,
    name: name.trim(),
    ...reach(provider, address, modelVariable(answers)),
    ...(organization.trim() === '' ? {} : { organization_id: organization.trim() }),
    ...(fallback.length === 0
      ? {}
      : {
          fallbacks: fallback.map((each, index) => ({
            provider: each.provider,
            name: each.name.trim(),
            ...reach(each.provider, each.address, fallbackVariable(answers, index)),
          })),
        }),
  };
}

/** A variable is written only if it is not the default one. */
function reach(provider: string, address: string, variable: string | null): JsonObject {
  const { address: need, variable: usual } = providerOffer(provider) ?? {};
  const isUsual = variable === usual && provider !== 'openai-compatible';
  return {
    ...(need === 'none' || address === '' ? {} : { base_url: address.trim() }),
    ...(variable === null || isUsual ? {} : { api_key_env: variable }),
  };
}

function toolSettings({ tools: { names, search, commands } }: AgentAnswers): JsonObject {
  const usual = searchServices[0].name;
  const settings = [
    ...(names.includes('web_search') && search !== usual
      ? [{ name: 'web_search', config: { provider: search } }]
      : []),
    ...(names.includes('cli_execute')
      ? [{ name: 'cli_execute', config: { commands: [...commands] } }]
      : []),
  ];
  return settings.length === 0 ? {} : { tools: settings };
}

/** Tools that need a writable folder. */
const writingTools = ['file_write', 'file_edit'];

function egressOf(answers: AgentAnswers): JsonObject {
  const { mode, hosts } = answers.egress;
  const { names } = answers.tools;
  const named = mode === 'allowlist' ? variableHosts(answers).map(({ host }) => host) : [];
  const all = [...hosts.map((host) => host.toLowerCase()), ...named];
  const listed = mode === 'deny-all' ? [] : [...new Set(all)];
  const egress = {
    ...(mode === 'allowlist' ? {} : { mode }),
    ...(listed.length === 0 ? {} : { allowed_domains: listed }),
    ...(names.some((name) => writingTools.includes(name)) ? { writable: ['work'] } : {}),
  };
  return Object.keys(egress).length === 0 ? {} : { egress };
}

function authOf({ auth: { mode, settings } }: AgentAnswers): JsonObject {
  const { fields = [] } = authOffer(mode) ?? {};
  if (fields.length === 0) return {};
  const known = fields.flatMap(({ name, kind }) => {
    const value = settings[name];
    const written =
      value === undefined ? null : writtenValue(value, name === 'audience' && kind === 'list');
    return written === null ? [] : [[name, written] as const];
  });
  return { auth: { providers: [{ type: mode, settings: Object.fromEntries(known) }] } };
}

/** A list with one entry is written as a single value if both mean the same; blank values are omitted. */
function writtenValue(value: FieldValue, isOneOrMany: boolean): JsonValue | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (!isList(value)) {
    const said = Object.entries(value).filter(([, text]) => text.trim() !== '');
    return said.length === 0
      ? null
      : Object.fromEntries(said.map(([key, text]) => [key, text.trim()]));
  }
  const said = value.map((text) => text.trim()).filter((text) => text !== '');
  const [only] = said;
  if (only === undefined) return null;
  return isOneOrMany && said.length === 1 ? only : said;
}

function isList(value: FieldValue): value is readonly string[] {
  return Array.isArray(value);
}

function rulesOf(approvals: Readonly<Record<string, ApprovalAnswer>>): JsonObject {
  return Object.fromEntries(
    Object.entries(approvals).map(([tool, { to, timeout, quorum, approvers }]) => [
      tool,
      {
        to,
        timeout,
        ...(quorum === 1 ? {} : { quorum }),
        ...(approvers.length === 0 ? {} : { approvers: [...approvers] }),
      },
    ]),
  );
}

function channelFiles({
  channels: { telegram, webhook },
}: AgentAnswers): Record<string, JsonObject> {
  const users = writtenValue(telegram?.['allowed_users'] ?? '', false);
  return {
    ...(users === null
      ? {}
      : { 'telegram-config.yaml': { adapter: 'telegram', settings: { allowed_users: users } } }),
    ...(webhook === undefined ? {} : { 'webhook-config.yaml': webhookFile(webhook) }),
  };
}

function webhookFile({ target = '', url = '' }: FieldValues): JsonObject {
  if (typeof target !== 'string' || typeof url !== 'string') return {};
  const receiver = { url: url.trim(), secret_env: 'WEBHOOK_SECRET' };
  return { adapter: 'webhook', settings: { targets: { [target.trim()]: receiver } } };
}

/** Escapes a typed literal `${` as `$${` everywhere. */
function literal(value: JsonObject): JsonObject;
function literal(value: JsonValue): JsonValue;
function literal(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map((entry) => literal(entry));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, literal(entry)]));
}
