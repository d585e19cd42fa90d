import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { builtinToolNames, type RegistrySkill } from '../../actors/tools/tools.ts';
import { AddSkillError } from '../../actors/workspace/workspace.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { moveForge } from '../../machines/moving/move-forge.ts';
import { moveServers } from '../../machines/moving/move-servers.ts';
import type { MovedKey } from '../../machines/moving/moved-key.ts';
import { looksLikeSecret, type McpServerText, withoutSecrets } from '../create/mcp-server-text.ts';
import { skillsOf } from '../skills/skill-source.ts';
import type { ImportSource } from './read-import.ts';

/** The agent that a source becomes, and the outcome of each key of the source. */
export interface ImportPlan {
  agentId: string;
  service: JsonObject;
  /** Values for `.service/.env`, which the configuration names as variables. */
  secrets: Readonly<Record<string, string>>;
  skills: RegistrySkill[];
  keys: MovedKey[];
}

export interface ImportOptions {
  env: NodeJS.ProcessEnv;
  /** Name of the agent; that of the source, else of its folder, when absent. */
  name?: string;
  /** Keys that the operator omits knowingly. */
  without: readonly string[];
  /** True to make a gateway to the MCP servers, which has no model. */
  isGateway?: boolean;
}

/** Plans the import of a source. Nothing is written; keys that are `refused` must be omitted first. */
export async function planImport(
  source: ImportSource,
  options: ImportOptions,
): Promise<ImportPlan> {
  const { keys, service, secrets } = configOf(source, options);
  const { skills, refusals } = await skillsOf(source.skills, options.without);
  const written = service['agent_id'];
  const agentId =
    options.name ?? nameOf(typeof written === 'string' ? written : basename(source.folder));
  const skillKeys = skills.map(
    ({ skill, others }): MovedKey => ({
      ...{ key: `skills/${skill.id}`, outcome: 'taken' },
      why: `${(others?.size ?? 0) + 1} files, ${skill.tools.length} tools`,
    }),
  );
  return {
    agentId,
    service: {
      agent_id: agentId,
      ...(options.isGateway === true ? gateway : {}),
      ...withoutKey(service, 'agent_id'),
    },
    secrets,
    skills,
    keys: [...keys, ...skillKeys, ...refusals],
  };
}

/** The keys of a gateway, in addition to its servers. */
const gateway: JsonObject = { gate: {}, server: { mcp: true } };

type Config = Pick<ImportPlan, 'keys' | 'service' | 'secrets'>;

function configOf(source: ImportSource, options: ImportOptions): Config {
  if (options.isGateway === true && source.kind !== 'servers') {
    throw new AddSkillError(
      'skill_unusable',
      `a gateway needs MCP settings; ${source.path} has none`,
    );
  }
  if (source.kind === 'skills') return { keys: [], service: {}, secrets: {} };
  const { keys, service } =
    source.kind === 'forge' ? forgeConfig(source, options) : serversConfig(source, options);
  return { keys, ...withoutLiterals(service, options.env) };
}

function forgeConfig({ root }: ImportSource, { without }: ImportOptions): Omit<Config, 'secrets'> {
  const moved = moveForge(root, { without, builtinTools: builtinToolNames });
  const isNamed = root['guardrails'] !== undefined || root['guardrails_path'] !== undefined;
  if (isNamed) return moved;
  const why =
    'without the file, messages and answers are searched there by built-in rules, which are not here';
  return { ...moved, keys: [...moved.keys, { key: 'guardrails.json', outcome: 'lost', why }] };
}

function serversConfig(
  { root, folder, path }: ImportSource,
  { env, without }: ImportOptions,
): Omit<Config, 'secrets'> {
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const moved = moveServers(root, { workspace: folder, home: homedir(), isSet, without });
  if (moved === null) {
    throw new AddSkillError(
      'skill_unusable',
      `${path} names no MCP servers under mcpServers, servers, context_servers or mcp_servers`,
    );
  }
  // A server runs in the folder of the agent, and its program stays in that of the project.
  const placed = (text: string) => {
    const path = join(folder, text);
    return text.includes('/') && !isAbsolute(text) && existsSync(path) ? path : text;
  };
  const servers = moved.servers.map(({ command, ...server }) => ({
    ...server,
    ...(command === undefined ? {} : { command: placed(command) }),
    args: server.args.map(placed),
  })) as unknown as JsonObject[];
  return { keys: moved.keys, service: { mcp: { servers } } };
}

/** Replaces apparent secrets by variables. Throws AddSkillError for a variable that would have two values. */
function withoutLiterals(
  service: JsonObject,
  env: NodeJS.ProcessEnv,
): Pick<ImportPlan, 'service' | 'secrets'> {
  const secrets: Record<string, string> = {};
  const keep = (name: string, value: string): void => {
    if (!['', value].includes(secrets[name] ?? env[name] ?? '')) {
      const message = `there is another value for ${name}, in the environment or at another server; rename one of the two`;
      throw new AddSkillError('skill_unusable', message);
    }
    secrets[name] = value;
  };
  const hide = (value: JsonValue, path: readonly (string | number)[]): JsonValue => {
    if (Array.isArray(value)) return value.map((child, index) => hide(child, [...path, index]));
    if (isJsonObject(value)) {
      const isServer = path.length === 3 && path[0] === 'mcp' && path[1] === 'servers';
      if (!isServer) {
        const entries = Object.entries(value);
        return Object.fromEntries(
          entries.map(([key, child]) => [key, hide(child, [...path, key])]),
        );
      }
      const { server, secrets: found } = withoutSecrets(serverText(value));
      for (const [name, secret] of Object.entries(found)) keep(name, secret);
      const others = Object.entries(value)
        .filter(([key]) => !textKeys.has(key))
        .map(([key, child]) => [key, hide(child, [...path, key])] as const);
      return { ...(server as JsonObject), ...Object.fromEntries(others) };
    }
    const label = String(path.at(-1));
    const isSecret =
      typeof value === 'string' && looksLikeSecret(label.endsWith('_env') ? '' : label, value);
    if (!isSecret) return value;
    const name = path
      .join('_')
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_');
    keep(name, value);
    return `\${${name}}`;
  };
  return { service: hide(service, []) as JsonObject, secrets };
}

const textKeys = new Set(['name', 'url', 'headers', 'command', 'args', 'env']);

/** The moves write these keys of a server in this form only. */
function serverText(server: JsonObject): McpServerText {
  return { headers: {}, args: [], env: {}, ...server } as unknown as McpServerText;
}

function nameOf(written: string): string {
  const name = written
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name.slice(0, 64).replace(/-+$/, '') || 'imported';
}

function withoutKey(map: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key));
}
