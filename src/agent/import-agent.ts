import { homedir } from 'node:os';
import { basename } from 'node:path';
import { builtinToolNames, type RegistrySkill } from '../actors/tools/tools.ts';
import type { JsonObject, JsonValue } from '../machines/json.ts';
import { moveForge } from '../machines/moving/move-forge.ts';
import { type MovedServer, moveServers } from '../machines/moving/move-servers.ts';
import type { MovedKey } from '../machines/moving/moved-key.ts';
import { looksLikeSecret, withoutSecrets } from './mcp-server-text.ts';
import type { ImportSource } from './read-import.ts';
import { skillsOf } from './skill-source.ts';

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
  /** Keys that the operator leaves out knowingly. */
  without: readonly string[];
}

/** Plans the import of a source. Nothing is written; keys that are `refused` must be left out first. */
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
    service: { agent_id: agentId, ...withoutKey(service, 'agent_id') },
    secrets,
    skills,
    keys: [...keys, ...skillKeys, ...refusals],
  };
}

type Config = Pick<ImportPlan, 'keys' | 'service' | 'secrets'>;

function configOf(source: ImportSource, options: ImportOptions): Config {
  if (source.kind === 'forge') return forgeConfig(source, options);
  return source.kind === 'servers'
    ? serversConfig(source, options)
    : { keys: [], service: {}, secrets: {} };
}

function forgeConfig({ root }: ImportSource, { without }: ImportOptions): Config {
  const { service, keys } = moveForge(root, { without, builtinTools: builtinToolNames });
  const secrets: Record<string, string> = {};
  const hidden = hide(service, [], secrets) as JsonObject;
  const isNamed = root['guardrails'] !== undefined || root['guardrails_path'] !== undefined;
  if (isNamed) return { service: hidden, keys, secrets };
  const why =
    'without the file, messages and answers are searched there by built-in rules, which are not here';
  return {
    service: hidden,
    keys: [...keys, { key: 'guardrails.json', outcome: 'lost', why }],
    secrets,
  };
}

/** Replaces apparent secrets by variables. */
function hide(
  value: JsonValue,
  path: readonly (string | number)[],
  secrets: Record<string, string>,
): JsonValue {
  if (Array.isArray(value))
    return value.map((child, index) => hide(child, [...path, index], secrets));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, hide(child, [...path, key], secrets)]),
    );
  }
  const label = String(path.at(-1));
  if (typeof value !== 'string' || !looksLikeSecret(label.endsWith('_env') ? '' : label, value))
    return value;
  const name = path
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_');
  secrets[name] = value;
  return `\${${name}}`;
}

function serversConfig({ root, folder, path }: ImportSource, options: ImportOptions): Config {
  const { without, env } = options;
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const moved = moveServers(root, { workspace: folder, home: homedir(), isSet, without });
  if (moved === null) {
    const why = `${path} names no MCP servers under mcpServers, servers, context_servers or mcp_servers`;
    return { keys: [{ key: '(file)', outcome: 'refused', why }], service: {}, secrets: {} };
  }
  const keys = [...moved.keys];
  const secrets: Record<string, string> = {};
  const servers = moved.servers.map((server) => {
    const { server: entry, secrets: found } = withoutSecrets(server);
    for (const [name, value] of Object.entries(found)) {
      if ((secrets[name] ?? value) !== value) {
        const why = `another server has another value for ${name}; rename one of the two`;
        keys.push({ key: server.name, outcome: 'refused', why });
      }
      secrets[name] = value;
    }
    return { ...entry, ...settingsOf(server) } as JsonObject;
  });
  return { service: { mcp: { servers } }, keys, secrets };
}

function settingsOf({ tools, timeout }: MovedServer): object {
  return { ...(timeout === undefined ? {} : { timeout }), tools };
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
