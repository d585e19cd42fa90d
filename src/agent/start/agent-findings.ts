import { realpath } from 'node:fs/promises';
import { dirname, extname, relative, sep } from 'node:path';
import type { ConfigProblem, ServiceConfig } from '../../actors/config/config.ts';
import {
  type EffectiveHosts,
  effectiveHosts,
  hopOf,
  normaliseHost,
} from '../../actors/outbound/outbound.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { type MentionedHost, mentionedHosts, type Skill } from '../../actors/tools/tools.ts';
import { namedTools } from '../policy/named-tools.ts';
import { declaredEndpoints } from './derived-endpoints.ts';
import { type AgentReading, readAgent } from './read-agent.ts';

/** Script types that open a tunnel for every URL, as Node's fetch does; other programs send plain proxy requests. */
const tunnelling = new Set(['.js', '.mjs', '.ts']);

/**
 * Lists hosts that scripts mention and no entry covers, each with its location, and skills that declare hosts which
 * none of their scripts can reach (docs/contract/egress.md). Hosts assembled at run time are not detected.
 */
export async function unlistedHosts(
  directory: string,
  { egress }: ServiceConfig,
  skills: readonly Skill[],
): Promise<ConfigProblem[]> {
  if (egress.mode === 'dev-open') return [];
  const isClosed = egress.mode === 'deny-all';
  const listed = { domains: egress.allowed_domains, private: egress.allowed_private };
  const hosts = effectiveHosts(
    isClosed ? { domains: [], private: [] } : listed,
    isClosed ? [] : declaredEndpoints(skills),
  );
  const root = await realpath(directory);
  const folders = Map.groupBy(
    skills.filter(({ tools }) => tools.length > 0),
    ({ tools: [tool] }) => dirname(tool?.script ?? root),
  );
  const found = [...folders].map(async ([folder, owners]) =>
    (await mentionedHosts(folder)).flatMap((mentioned) => {
      const why = uncovered(mentioned, owners, hosts);
      if (why === null) return [];
      const { path, line, column } = mentioned;
      const file = relative(root, path).split(sep).join('/');
      const message = isClosed ? `${why}; tools have no network access with mode: deny-all` : why;
      return [{ message, file, line, column, path: '' }];
    }),
  );
  const idle = isClosed ? [] : skills.flatMap((skill) => declaredInVain(skill, hosts));
  return [...(await Promise.all(found)).flat(), ...idle];
}

/** Returns why a host mentioned by a script is unreachable and how to fix it; `null` if the host is reachable. */
function uncovered(
  { path, url }: MentionedHost,
  owners: readonly Skill[],
  hosts: EffectiveHosts,
): string | null {
  const { hostname, port, protocol } = hopOf(url);
  const host = normaliseHost(hostname);
  if (host === null) return null;
  const isTunnel = protocol === 'https:' || tunnelling.has(extname(path));
  const isListed = (asTunnel: boolean) =>
    owners.some(({ id }) => hosts.lists({ host, port, isTunnel: asTunnel }, id));
  if (isListed(isTunnel)) return null;
  const named = `${url.hostname}:${port}`;
  if (isListed(false)) {
    return `this script mentions ${named}, and a tunnel goes to 443 and 80 unless an entry names the port; write the entry as ${named}`;
  }
  const [owner] = owners;
  return `this script mentions ${url.host}, which no entry covers; add it to egress_domains of the skill ${owner?.id}, or to egress.allowed_domains`;
}

/** Declared hosts apply only to scripts; builtin tools use the hosts listed in the configuration. */
function declaredInVain(skill: Skill, hosts: EffectiveHosts): ConfigProblem[] {
  if (skill.tools.length > 0) return [];
  const isListed = declaredEndpoints([skill]).every(({ host, port }) => {
    const place = normaliseHost(host.replace(/^\*/, 'any')) ?? '';
    return hosts.lists({ host: place, port, isTunnel: false }, null);
  });
  if (isListed) return [];
  const message = `the skill ${skill.id} has no script to which its egress_domains would be open; list them in egress.allowed_domains for builtin tools`;
  return [{ message, file: skill.file, line: 1, column: 1, path: '' }];
}

/** The result of checking an agent's files. Without problems, the agent can start. */
export interface Findings {
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
  /** `null` if `service.yaml` is invalid. */
  config: ServiceConfig | null;
  /** The channel settings; `null` if `config` is `null`. */
  channels: NonNullable<AgentReading['agent']>['channels'] | null;
  /** Ids of the Slack user groups whose members may approve. */
  slackGroups: string[];
  /** The policy digest; `null` if the policy is invalid. */
  policySha256: string | null;
  /** Sorted names. */
  skills: string[];
  /** Tools of MCP servers are included as last seen, or as listed in `allow`. */
  tools: string[];
  /** MCP servers that have never been reached. */
  unknownServers: string[];
}

/**
 * Checks an agent's files without starting the agent. If `text` is given, it replaces the contents of `service.yaml`.
 */
export async function checkAgent(
  directory: string,
  env: NodeJS.ProcessEnv,
  text?: string,
): Promise<Findings> {
  const reading = await readAgent(directory, env, systemClock(), () => null, text);
  const { problems, warnings, agent } = reading;
  const unlisted =
    agent === null || problems.length > 0
      ? []
      : await unlistedHosts(directory, agent.config, agent.toolbox.skills);
  return {
    problems: inOrder(problems),
    warnings: inOrder([...warnings, ...unlisted]),
    config: agent?.config ?? null,
    channels: agent?.channels ?? null,
    slackGroups: Object.values(agent?.people.groups ?? {}).flatMap(({ slack }) => slack ?? []),
    policySha256: problems.length > 0 ? null : (agent?.policySha256 ?? null),
    skills: (agent?.toolbox.skills ?? []).map(({ id }) => id).toSorted(),
    unknownServers: [...(agent?.seen ?? [])].flatMap(([name, known]) =>
      known === null ? [name] : [],
    ),
    tools: agent === null ? [] : namedTools(agent.config, agent.toolbox, agent.seen).toSorted(),
  };
}

function inOrder(problems: ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted(
    (one, other) =>
      one.file.localeCompare(other.file) || one.line - other.line || one.column - other.column,
  );
}
