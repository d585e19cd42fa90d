import { relative, sep } from 'node:path';
import { kebabCase } from '../../../machines/kebab-case.ts';
import { refusedVariable } from '../../process/process.ts';
import {
  largestSettingsFile,
  readRegularFile,
  UnusableFileError,
} from '../../read-regular-file.ts';
import { type Frontmatter, FrontmatterError, parseFrontmatter } from './frontmatter.ts';
import { type FrontmatterData, frontmatterSchema } from './frontmatter-schema.ts';
import { resolveInside } from './inside-directory.ts';
import { scriptDefinitions } from './script-definitions.ts';
import type { Requirements, Skill } from './skill.ts';
import type { Position, SkillProblem } from './skill-problem.ts';

/** A potential skill file, and the folder of its scripts. */
export interface SkillSource {
  path: string;
  scriptsDirectory: string;
}

/** Result of reading one file; without a skill the remarks give the reason. */
export interface SkillReading {
  skill?: Skill;
  problems: SkillProblem[];
  warnings: SkillProblem[];
}

/** Reads one skill file of an agent; links in the path of the agent's folder must already be resolved. */
export async function readSkill(
  agentDirectory: string,
  source: SkillSource,
): Promise<SkillReading> {
  const file = relative(agentDirectory, source.path).split(sep).join('/');
  const reading: SkillReading = { problems: [], warnings: [] };
  const refuse = (message: string, position: Position = { line: 1, column: 1 }): SkillReading => {
    reading.problems.push({ message, file, ...position });
    return reading;
  };
  const resolved = await resolveInside(agentDirectory, source.path);
  if (resolved.kind === 'outside') {
    return refuse('the skill file leads out of the agent folder; move it inside');
  }
  if (resolved.kind === 'missing') return refuse('the skill file does not exist; fix the path');
  let frontmatter: Frontmatter;
  try {
    frontmatter = parseFrontmatter(
      readRegularFile(resolved.path, largestSettingsFile).toString('utf8'),
    );
  } catch (error) {
    if (error instanceof UnusableFileError) {
      return refuse(
        error.code === 'no_file'
          ? 'the skill is not a file; replace it'
          : 'the skill file is larger than 256 KiB; shorten it',
      );
    }
    if (!(error instanceof FrontmatterError)) throw error;
    return refuse(error.message, error.position);
  }
  return interpret(agentDirectory, source, file, frontmatter, reading);
}

async function interpret(
  agentDirectory: string,
  source: SkillSource,
  file: string,
  frontmatter: Frontmatter,
  reading: SkillReading,
): Promise<SkillReading> {
  const { problems, warnings } = reading;
  const at = (message: string, path: readonly PropertyKey[]): SkillProblem => ({
    message,
    file,
    ...frontmatter.locate(path),
  });
  if ((frontmatter.data['name'] ?? '') === '') {
    warnings.push(at('the file has no name in its frontmatter and is skipped; add one', []));
    return reading;
  }
  const parsed = frontmatterSchema.safeParse(frontmatter.data);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      const place = path.join('.');
      const starts = message.startsWith(place);
      problems.push(at(starts ? message : `${place} is not valid: ${message}`, path));
    }
    return reading;
  }
  const skill = describeSkill(file, frontmatter, parsed.data);
  problems.push(...variableProblems(skill.requires, at));
  warnings.push(...keyWarnings(skill, at));
  const tools = await scriptDefinitions(skill, {
    agentDirectory,
    scriptsDirectory: source.scriptsDirectory,
    body: frontmatter.body,
    bodyLine: frontmatter.bodyLine,
    idempotent: serviceBlock(parsed.data).idempotent ?? false,
    held: skill.held ?? [],
  });
  problems.push(...tools.problems);
  warnings.push(...tools.warnings);
  return { skill: { ...skill, tools: tools.definitions }, problems, warnings };
}

function describeSkill(file: string, frontmatter: Frontmatter, data: FrontmatterData): Skill {
  const block = serviceBlock(data);
  const { required = [], one_of: oneOf = [], optional = [] } = block.requires?.env ?? {};
  return {
    id: data.name,
    name: data.display_name || data.name,
    description: data.description?.trim() ?? '',
    ...(data.category ? { category: data.category } : {}),
    tags: data.tags,
    file,
    body: frontmatter.body.trim(),
    tools: [],
    requires: { bins: block.requires?.bins ?? [], env: { required, oneOf, optional } },
    egressDomains: data.egress_domains,
    ...(block.held ? { held: block.held } : {}),
    ...(block.risk ? { risk: block.risk } : {}),
    ...(block.guardrails === undefined
      ? {}
      : { guardrails: { value: block.guardrails, locate: guardrailsLocator(frontmatter) } }),
  };
}

function guardrailsLocator({ data, locate }: Frontmatter): Frontmatter['locate'] {
  const metadata = data['metadata'] as { service?: { guardrails?: unknown } | null };
  const block = metadata.service?.guardrails === undefined ? 'forge' : 'service';
  return (path) => locate(['metadata', block, 'guardrails', ...path]);
}

type ServiceBlock = NonNullable<NonNullable<FrontmatterData['metadata']>['service']>;

/** Existing skills have the block under another name; keys of our own block take precedence. */
function serviceBlock({ metadata }: FrontmatterData): ServiceBlock {
  return { ...metadata?.forge, ...metadata?.service };
}

type At = (message: string, path: readonly PropertyKey[]) => SkillProblem;

function variableProblems({ env }: Requirements, at: At): SkillProblem[] {
  return [...env.required, ...env.oneOf, ...env.optional].flatMap((name) => {
    const refusal = refusedVariable(name);
    return refusal ? [at(`requires.env: ${refusal}`, ['metadata'])] : [];
  });
}

function keyWarnings(skill: Skill, at: At): SkillProblem[] {
  const warnings: SkillProblem[] = [];
  if (skill.description === '') {
    warnings.push(at(`skill ${skill.id} has no description; say what it is for`, ['name']));
  }
  if (skill.category !== undefined && !kebabCase.test(skill.category)) {
    const hint = 'category should be lower-case words joined by hyphens, such as customer-care';
    warnings.push(at(hint, ['category']));
  }
  return warnings;
}
