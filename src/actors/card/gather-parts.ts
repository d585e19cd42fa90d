import { isDeepStrictEqual } from 'node:util';
import type {
  AgentSkill,
  CardCapabilities,
  CardInterface,
  CardParts,
  DeclaredScheme,
} from '../../machines/card/agent-card.ts';
import { commandLine } from '../command-line.ts';
import { loadConfig, type ServiceConfig } from '../config/config.ts';
import type { Log } from '../ports/log.ts';
import { readSkills, type Skill, type SkillProblem } from '../tools/tools.ts';
import { skillOfFile } from './agent-skill.ts';
import { type AgentSpec, agentSpecPath, readAgentSpec } from './agent-spec.ts';

/** Working interfaces of the agent; a card lists no others (docs/contract/agent-card.md). */
const servedInterfaces: readonly CardInterface[] = [
  { transport: 'JSONRPC', protocolVersion: '1.0', path: '' },
  { transport: 'HTTP+JSON', protocolVersion: '1.0', path: '/a2a' },
  { transport: 'JSONRPC', protocolVersion: '0.3', path: '' },
  { transport: 'HTTP+JSON', protocolVersion: '0.3', path: '' },
];

/** Capabilities advertised on the card. */
const servedCapabilities: CardCapabilities = {
  streaming: true,
  pushNotifications: true,
  stateTransitionHistory: false,
};

/** The inputs of a card that stay fixed from start-up, even if the agent's files change. */
export interface CardBasis {
  directory: string;
  env: NodeJS.ProcessEnv;
  agentId: string;
  /** Enabled builtin tools, as card skills. */
  tools: readonly AgentSkill[];
  /** Security schemes of the configured providers. */
  declared: readonly DeclaredScheme[];
  /** True if callers must authenticate. */
  isAuthOn: boolean;
  /** Public base URL, without a trailing slash. */
  address: string;
  /** Called after each change of the files. */
  seen: () => void;
  log: Log;
}

/** The files do not form a valid card; each problem names its location and remedy. */
export class CardFilesError extends Error {
  readonly code = 'card_files_invalid';
  readonly problems: readonly SkillProblem[];

  constructor(problems: readonly SkillProblem[]) {
    super(`${problems.length} problem${problems.length === 1 ? '' : 's'} in the agent's files`);
    this.problems = problems;
  }
}

/** Rereads all files of the card. Rejects with a CardFilesError if any of them is unusable. */
export async function gatherParts(basis: CardBasis): Promise<CardParts> {
  const loaded = loadConfig(basis.directory, basis.env);
  if (!loaded.ok) throw new CardFilesError(loaded.problems);
  const { config } = loaded;
  const { skills, problems } = await readSkills(basis.directory, { mainPath: config.skills.path });
  if (problems.length > 0) throw new CardFilesError(problems);
  basis.seen();
  return partsOf(basis, config, skills);
}

/**
 * Assembles the parts of a card (docs/contract/agent-card.md): values of the build spec take precedence over the files.
 */
export function partsOf(
  { directory, agentId, tools, declared, isAuthOn, address, log }: Omit<CardBasis, 'seen'>,
  config: ServiceConfig,
  skills: readonly Skill[],
): CardParts {
  const { spec, warning } = readAgentSpec(directory);
  if (warning !== null) log.warn({}, `card: ${warning}`);
  const found = skills.map(skillOfFile);
  const outdated = differences(spec, config, found);
  if (outdated.length > 0) {
    log.warn(
      { outdated },
      `card: ${agentSpecPath} differs from the files and counts; run ${commandLine('build')}`,
    );
  }
  return {
    name: spec.name || agentId,
    description: spec.description || config.description,
    version: spec.version || config.version,
    url: (config.server.public_url || address).replace(/\/+$/, ''),
    skills: [...spec.skills, ...found, ...tools],
    capabilities: servedCapabilities,
    interfaces: servedInterfaces,
    declared,
    written: { ...spec.securitySchemes, ...config.card.security_schemes },
    isExtended: isAuthOn,
  };
}

/** Lists contradictions between the build spec and the files. */
function differences(
  spec: AgentSpec,
  { version, description }: ServiceConfig,
  found: readonly AgentSkill[],
): string[] {
  const built = new Map(spec.skills.map((skill) => [skill.id, skill]));
  return [
    ...(spec.version !== '' && spec.version !== version ? ['version'] : []),
    ...(spec.description !== '' && spec.description !== description ? ['description'] : []),
    ...found
      .filter(({ id }) => built.has(id))
      .filter((skill) => !isDeepStrictEqual(skill, built.get(skill.id)))
      .map(({ id }) => `skill ${id}`),
  ];
}
