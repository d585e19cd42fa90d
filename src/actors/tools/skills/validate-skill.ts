import { isKebabName, kebabCase } from '../../../machines/kebab-case.ts';
import { isCoveredBy, readHostEntry, readHostPattern } from '../../outbound/outbound.ts';
import { normalName } from '../../tool-name.ts';
import { scriptNameOf } from './find-script.ts';
import { type Frontmatter, FrontmatterError, parseFrontmatter } from './frontmatter.ts';
import { hostsInText } from './mentioned-hosts.ts';
import { type Remark, sectionParameters } from './section-parameters.ts';
import type { Position } from './skill-problem.ts';
import { readSkillText, type SkillTextReading } from './skill-text.ts';
import { toolSections } from './tool-sections.ts';

/** A skill to validate, which need not exist in an agent's folder. */
export interface SkillDraft {
  /** Text of its `SKILL.md`. */
  skill_md: string;
  /** Script texts by file name. */
  scripts: Readonly<Record<string, string>>;
  /** Names of the agent's existing skills. */
  existing: readonly string[];
  /** Name of the edited skill; `null` for a new one. */
  editing: string | null;
}

/** The rules of docs/contract/dashboard.md in its order, and `start` for what else the start of an agent reports. */
export type SkillRule =
  | 'name_present'
  | 'name_format'
  | 'description_present'
  | 'frontmatter_yaml'
  | 'tool_sections'
  | 'category_format'
  | 'egress_declared'
  | 'name_unique'
  | 'name_kept'
  | 'start';

/** A violated rule. */
export interface SkillFinding extends Partial<Position> {
  level: 'error' | 'warning';
  rule: SkillRule;
  /** One sentence. */
  message: string;
  /** The script that contains `line` and `column`; `SKILL.md` when absent. */
  file?: string;
}

/**
 * Validates a skill against the nine rules of docs/contract/dashboard.md, and as the start of its agent does; errors
 * prevent saving, warnings do not.
 */
export function validateSkill(draft: SkillDraft): SkillFinding[] {
  let frontmatter: Frontmatter;
  try {
    frontmatter = parseFrontmatter(draft.skill_md);
  } catch (error) {
    if (!(error instanceof FrontmatterError)) throw error;
    return [
      { level: 'error', rule: 'frontmatter_yaml', message: error.message, ...error.position },
    ];
  }
  const text = readSkillText('SKILL.md', frontmatter);
  const findings = [
    ...nameFindings(frontmatter, draft),
    ...descriptionFindings(frontmatter),
    ...bodyFindings(frontmatter),
    ...categoryFindings(frontmatter),
    ...egressFindings(text, draft),
  ];
  // The start skips a file without a name.
  if (findings.some(({ rule }) => rule === 'name_present')) return findings;
  const isNew = ({ line, column }: Partial<Position>) =>
    !findings.some((found) => found.line === line && found.column === column);
  return [...findings, ...startFindings(text, frontmatter, draft).filter(isNew)];
}

/** Reports what the start of the agent would report for the text. */
function startFindings(
  { problems, warnings }: SkillTextReading,
  frontmatter: Frontmatter,
  { scripts }: SkillDraft,
): SkillFinding[] {
  const files = Object.keys(scripts).map(scriptNameOf);
  const sections = toolSections(frontmatter.body, frontmatter.bodyLine)
    .filter(({ name }) => files.includes(normalName(name)))
    .map(sectionParameters);
  const as =
    (level: SkillFinding['level']) =>
    ({ message, line, column }: Remark): SkillFinding => ({
      ...{ level, rule: 'start', message, line, column },
    });
  return [
    ...[...problems, ...sections.flatMap((one) => one.problems)].map(as('error')),
    ...[...warnings, ...sections.flatMap((one) => one.warnings)].map(as('warning')),
  ];
}

function nameFindings(
  { data, locate }: Frontmatter,
  { existing, editing }: SkillDraft,
): SkillFinding[] {
  const name = data['name'] ?? '';
  const at = locate(['name']);
  if (name === '') {
    const message = 'the frontmatter has no name; add one, such as name: issue-refunds';
    return [{ level: 'error', rule: 'name_present', message, ...at }];
  }
  if (!isKebabName(name)) {
    const message =
      'the name must be lower-case words joined by hyphens, at most 64 characters, such as issue-refunds';
    return [{ level: 'error', rule: 'name_format', message, ...at }];
  }
  const findings: SkillFinding[] = [];
  if (existing.includes(name) && name !== editing) {
    const message = `the agent has a skill ${name} already; choose another name`;
    findings.push({ level: 'warning', rule: 'name_unique', message, ...at });
  }
  if (editing !== null && name !== editing) {
    const message = `the name is not ${editing} any more; the skill is saved as a new one, and the old one stays`;
    findings.push({ level: 'warning', rule: 'name_kept', message, ...at });
  }
  return findings;
}

function descriptionFindings({ data, locate }: Frontmatter): SkillFinding[] {
  const description = data['description'];
  if (typeof description === 'string' && description.trim() !== '') return [];
  const message = 'the frontmatter has no description; say in a sentence what the skill is for';
  return [{ level: 'error', rule: 'description_present', message, ...locate(['description']) }];
}

function bodyFindings({ body, bodyLine }: Frontmatter): SkillFinding[] {
  if (toolSections(body, bodyLine).length > 0) return [];
  const message =
    'the text has no section such as ## Tool: issue_refund, so the skill brings no tool; add one if it should';
  return [{ level: 'warning', rule: 'tool_sections', message, line: bodyLine, column: 1 }];
}

function categoryFindings({ data, locate }: Frontmatter): SkillFinding[] {
  const category = data['category'] ?? '';
  if (category === '' || (typeof category === 'string' && kebabCase.test(category))) return [];
  const message =
    'the category should be lower-case words joined by hyphens, such as customer-care';
  return [{ level: 'warning', rule: 'category_format', message, ...locate(['category']) }];
}

function egressFindings({ skill }: SkillTextReading, { scripts }: SkillDraft): SkillFinding[] {
  if (skill === undefined) return [];
  const entries = skill.egressDomains.flatMap((entry) => {
    const reading = readHostEntry(entry);
    return reading.ok ? [reading.pattern] : [];
  });
  return Object.entries(scripts).flatMap(([file, text]) =>
    hostsInText(text).flatMap(({ url, line, column }): SkillFinding[] => {
      const host = readHostPattern(url.hostname.replace(/^\[(.*)\]$/, '$1'));
      if (host.ok && entries.some((entry) => isCoveredBy(host.pattern, entry))) return [];
      const message = `${file} mentions ${url.host}, which egress_domains does not list; add it there`;
      return [{ level: 'warning', rule: 'egress_declared', message, file, line, column }];
    }),
  );
}
