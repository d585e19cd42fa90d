import { basename, extname } from 'node:path';
import { readRegularFile } from '../../read-regular-file.ts';
import { normalName } from '../../tool-name.ts';
import { type CodeDigest, digestCode, digestFile } from './code-digest.ts';
import { findScript } from './find-script.ts';
import { type Remark, sectionParameters } from './section-parameters.ts';
import type { ScriptDefinition, Skill } from './skill.ts';
import type { SkillProblem } from './skill-problem.ts';
import { type ToolSection, toolSections } from './tool-sections.ts';

/** Maximum size in bytes; longer files are data, not scripts. */
const largestScript = 1024 * 1024;

/** Interpreters matching each script extension, as named in a first line. */
const own: Record<string, RegExp> = {
  '.sh': /^(?:ba|da|k|z)?sh$/,
  '.py': /^python(?:3(?:\.\d+)?)?$/,
  '.js': /^node$/,
  '.mjs': /^node$/,
  '.ts': /^node$/,
};

/** Returns warnings about parts of a script that will not work as its author expects; empty for an unreadable one. */
export function scriptWarnings(path: string): string[] {
  const text = textOf(path);
  const file = basename(path);
  const [first = ''] = text.split(/\r?\n/, 1);
  const [, program, argument] = /^#!\s*(\S+)(?:\s+(?:-\S+\s+)*(\S+))?/.exec(first) ?? [];
  const named = basename((program?.endsWith('/env') ? argument : program) ?? '');
  return [
    ...(extname(path) === '.sh' && text.includes('\r\n')
      ? [
          `${file} has the line ends of Windows, which the shell reads as part of its words; save it with LF`,
        ]
      : []),
    ...(named !== '' && own[extname(path)]?.test(named) === false
      ? [
          `${file} asks for ${named} in its first line, but what runs it goes by its ending; rename it or write it for that`,
        ]
      : []),
  ];
}

function textOf(path: string): string {
  try {
    return readRegularFile(path, largestScript).toString('latin1');
  } catch {
    return '';
  }
}

/** The tools of a skill, and remarks about its sections. */
export interface ScriptDefinitions {
  definitions: ScriptDefinition[];
  problems: SkillProblem[];
  warnings: SkillProblem[];
}

/** Layout of a skill file, and settings for all its tools. */
export interface SkillTools {
  agentDirectory: string;
  scriptsDirectory: string;
  /** Text after the frontmatter; its start line is below. */
  body: string;
  bodyLine: number;
  /** Idempotent tools: all, none, or a list of names. */
  idempotent: boolean | string[];
  /** Names of tools that need approval. */
  held: string[];
}

/** Converts the `## Tool:` sections of a skill with a script to tools. */
export async function scriptDefinitions(
  skill: Skill,
  tools: SkillTools,
): Promise<ScriptDefinitions> {
  const result: ScriptDefinitions = { definitions: [], problems: [], warnings: [] };
  const taken = new Set<string>();
  const sections = toolSections(tools.body, tools.bodyLine);
  const code = sections.length === 0 ? new Map() : await digestCode(tools.scriptsDirectory);
  for (const section of sections) {
    const unusable = nameProblem(section.name, taken);
    taken.add(normalName(section.name));
    const read: SectionReading = unusable
      ? { problems: [remark(section, unusable)], warnings: [] }
      : await readSection(skill, section, tools, code);
    if (read.definition) result.definitions.push(read.definition);
    result.problems.push(...read.problems.map((one) => ({ ...one, file: skill.file })));
    result.warnings.push(...read.warnings.map((one) => ({ ...one, file: skill.file })));
  }
  const { idempotent, held } = tools;
  const again = typeof idempotent === 'boolean' ? [] : idempotent;
  result.warnings.push(
    ...unknownNames(skill, 'idempotent', again, taken),
    ...unknownNames(skill, 'held', held, taken),
  );
  return result;
}

interface SectionReading {
  definition?: ScriptDefinition;
  problems: Remark[];
  warnings: Remark[];
}

async function readSection(
  skill: Skill,
  section: ToolSection,
  tools: SkillTools,
  shared: CodeDigest,
): Promise<SectionReading> {
  const script = await findScript(tools.agentDirectory, tools.scriptsDirectory, section.name);
  if (script === null) return { problems: [], warnings: [withoutScript(section)] };
  const { parameters, problems, warnings } = sectionParameters(section);
  if ('refused' in script) {
    const refusal = remark(section, `tool ${section.name} ${script.refused}`);
    return { problems: [refusal, ...problems], warnings };
  }
  if (!parameters) return { problems, warnings };
  const idempotent = isIdempotent(section.name, tools.idempotent);
  const described = { ...describe(section, skill), parameters, idempotent };
  const code = new Map([...shared, [script.path, await digestFile(script.path)]]);
  const surprises = scriptWarnings(script.path).map((warning) =>
    remark(section, `tool ${section.name}: ${warning}`),
  );
  const definition = { ...described, script: script.path, code };
  return { definition, problems, warnings: [...warnings, ...surprises] };
}

function remark({ line }: ToolSection, message: string): Remark {
  return { message, line, column: 1 };
}

function nameProblem(name: string, taken: Set<string>): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) {
    return `${JSON.stringify(name)} cannot name a tool; use a letter, then up to 63 letters, digits, _ or -`;
  }
  if (taken.has(normalName(name))) {
    return `tool ${name} is described twice in this file; keep one section`;
  }
  return null;
}

function withoutScript(section: ToolSection): Remark {
  const { name } = section;
  const message = `tool ${name} has no script and is read as text only; add scripts/${name}.{sh,py,js,mjs,ts} to make it callable`;
  return remark(section, message);
}

function describe(
  section: ToolSection,
  skill: Skill,
): Omit<ScriptDefinition, 'parameters' | 'idempotent' | 'script' | 'code'> {
  const { required, oneOf, optional } = skill.requires.env;
  return {
    name: section.name,
    description: section.description || `${section.name} of the skill ${skill.id}`,
    environment: [...new Set([...required, ...oneOf, ...optional])],
    ...(skill.timeout === undefined ? {} : { timeout: skill.timeout }),
    skill: skill.id,
    file: skill.file,
    line: section.line,
  };
}

function isIdempotent(tool: string, declared: boolean | string[]): boolean {
  if (typeof declared === 'boolean') return declared;
  return declared.some((name) => normalName(name) === normalName(tool));
}

function unknownNames(
  skill: Skill,
  key: string,
  names: readonly string[],
  known: Set<string>,
): SkillProblem[] {
  return names
    .filter((name) => !known.has(normalName(name)))
    .map((name) => ({
      message: `${key} names ${name}, which is not a tool of the skill ${skill.id}; fix the name`,
      file: skill.file,
      line: 1,
      column: 1,
    }));
}
