import { join } from 'node:path';
import type { ConfigProblem } from '../../actors/config/config.ts';
import { readEnvFile, VariableError, writeEnvironment } from '../../actors/secrets/secrets.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { mcpToolName } from '../../actors/tools/tools.ts';
import { AddSkillError, revertConfig, type YamlEdit } from '../../actors/workspace/workspace.ts';
import {
  type AgentPlace,
  type HeldRules,
  planHeldRules,
  usableAgent,
  writeHeldRules,
} from '../policy/held-rules.ts';
import { readAgent } from '../start/read-agent.ts';
import { type McpServerText, withoutSecrets } from './mcp-server-text.ts';

/** An MCP server to add to an agent. */
export interface McpServerOrder extends McpServerText {
  /** Tool names as the server spells them. One of the two lists is empty. */
  allow: readonly string[];
  deny: readonly string[];
  held: readonly string[];
  /** The approver of the rules. Defaults to the approver of the first existing rule, or the console. */
  to?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a server's secrets are stored. */
export interface SecretPlace {
  /** The folder of the agent's `.env`; `null` if the agent reads none. */
  folder: string | null;
  own: Environment;
}

/** The result of adding a server. */
export interface AddedServer {
  rules: HeldRules;
  /** Names of the variables saved to `.env`. */
  kept: string[];
  /** Variables that the server references and no source sets. */
  unset: string[];
  /** Warnings about the agent's files that are new since the server was added. */
  warnings: ConfigProblem[];
}

/**
 * Adds an MCP server to `service.yaml` with rules that hold its tools, and saves apparent secrets to the agent's
 * `.env`. Writes atomically. Rejects with AddSkillError or ConfigFileError.
 */
export async function addMcpServer(
  place: AgentPlace,
  order: McpServerOrder,
  { folder, own }: SecretPlace,
): Promise<AddedServer> {
  const agent = await usableAgent(place);
  const { config } = agent;
  const { name, allow, deny, held, to } = order;
  if (config.mcp.servers.some((server) => server.name === name)) {
    throw unusable(`service.yaml has an MCP server ${name} already; choose another name`);
  }
  const stray = held.find((tool) =>
    allow.length > 0 ? !allow.includes(tool) : deny.includes(tool),
  );
  if (stray !== undefined) {
    throw unusable(`${stray} is held and the agent would not have it; allow it, or do not hold it`);
  }
  const { server, secrets } = withoutSecrets(order);
  const names = Object.keys(secrets);
  const known = folder === null ? own : { ...variablesIn(folder), ...own };
  if (names.length > 0) checkKept(secrets, folder, known);
  const additions: YamlEdit[] = [
    {
      kind: 'append',
      path: ['mcp', 'servers'],
      items: [{ ...server, tools: allow.length > 0 ? { allow } : { deny } }],
    },
  ];
  const before = await warningsOf(place);
  const rules = planHeldRules(
    agent,
    held.map((tool) => mcpToolName(name, tool)),
    { additions, ...(to === undefined ? {} : { to }) },
  );
  await writeHeldRules(place, rules);
  try {
    if (folder !== null) await writeEnvironment(folder, secrets);
  } catch (error) {
    await revertConfig(rules.config);
    throw error instanceof VariableError ? unusable(error.message) : error;
  }
  const warnings = (await warningsOf(place)).filter(
    (one) => !before.some(({ message }) => message === one.message),
  );
  const unset = namedIn(server).filter(
    (each) => !names.includes(each) && (known[each] ?? '') === '',
  );
  return { rules, kept: names, unset, warnings };
}

async function warningsOf({ directory, env }: AgentPlace): Promise<ConfigProblem[]> {
  return (await readAgent(directory, env, systemClock())).warnings;
}

/** Throws AddSkillError if secrets cannot be stored or would overwrite others. */
function checkKept(
  secrets: Readonly<Record<string, string>>,
  folder: string | null,
  known: Environment,
): void {
  const [first = ''] = Object.keys(secrets);
  if (folder === null) {
    throw unusable(
      `secrets.providers has no env, so ${first} cannot be kept in .env; keep it with the command secret set, and write \${${first}} in its place`,
    );
  }
  const other = Object.entries(secrets).find(
    ([name, value]) => ![undefined, '', value].includes(known[name]),
  );
  if (other === undefined) return;
  const [name] = other;
  throw unusable(
    `the agent has another value for ${name} already; write \${${name}} to use that one, or a name of your own such as \${${name}_2}`,
  );
}

function variablesIn(folder: string): Environment {
  return Object.fromEntries(readEnvFile(join(folder, '.env')).variables);
}

/** Lists the variables referenced by a server's entry. */
function namedIn(server: object): string[] {
  const text = JSON.stringify(server).replaceAll('$${', '');
  return [...new Set([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name))];
}

function unusable(message: string): AddSkillError {
  return new AddSkillError('skill_unusable', message);
}
