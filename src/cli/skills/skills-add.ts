import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { findProgram } from '../../actors/process/process.ts';
import type { RegistrySkill } from '../../actors/tools/tools.ts';
import { AddSkillError } from '../../actors/workspace/workspace.ts';
import type { AgentPlace } from '../../agent/policy/held-rules.ts';
import { attachSkill, planSkill, type SkillPlan } from '../../agent/skills/attach-skill.ts';
import { isSkillSource, readSkillFiles } from '../../agent/skills/read-skill-files.ts';
import {
  comparePinned,
  readPin,
  type SkillDifference,
  writePin,
} from '../../agent/skills/skill-pins.ts';
import { skillsOf } from '../../agent/skills/skill-source.ts';
import { asSkillPlan } from '../../agent/skills/skill-words.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { agentDirectory } from '../agent-directory.ts';
import { CliError } from '../cli-error.ts';
import { confirmed } from '../confirmed.ts';
import { plainLine } from '../plain-text.ts';
import { refuseChange } from '../refuse-change.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { knownSkill } from './known-skill.ts';

export interface SkillsAddOptions {
  dir: string;
  /** The skill to add, from a source with several. */
  skill?: string;
  preview?: boolean;
  /** Replaces a copy of an earlier state of the source. */
  update?: boolean;
  yes?: boolean;
}

/**
 * `skills add NAME | PATH | URL`: shows the effect of adding a skill to an agent, asks for a confirmation unless `yes` is
 * given, and adds it.
 */
export async function skillsAdd(
  session: Session,
  source: string,
  { dir, skill: wanted, preview = false, update = false, yes = false }: SkillsAddOptions,
): Promise<void> {
  const { output, stdin } = session;
  const directory = agentDirectory(dir);
  const place = { directory, env: await environmentOf(session, directory) };
  const isForeign = isSkillSource(source);
  const skill = isForeign
    ? await foreignSkill(place, source, wanted).catch(refuseChange)
    : await knownSkill(source);
  const name = skill.skill.id;
  const standing = isForeign
    ? await standingOf(directory, skill).catch(refuseChange)
    : { replaces: false, difference: null };
  if (standing === null) {
    output.line(`the agent has ${name} as it is at ${plainLine(source)}`);
    output.json({ name, directory, added: false });
    return;
  }
  const { replaces, difference } = standing;
  const plan = await planSkill(place, skill, { replaces }).catch(refuseChange);
  print(session, directory, name, plan);
  if (isForeign) printForeign(session, source, skill);
  if (difference !== null) printDifference(session, difference);
  const told = { ...asSkillPlan(name, plan), directory, sha256: skill.digest, difference };
  if (preview) {
    output.json({ ...told, added: false });
    return;
  }
  if (replaces && !update) {
    throw new CliError(`${name} differs from the copy that the agent has`, {
      code: 'skill_exists',
      hint: 'review the difference, and take the new copy with --update',
    });
  }
  // Skills of this package are reviewed, so a script may add them without a question.
  if (!yes && (isForeign || (stdin.isTTY === true && output.stderr.isTTY === true))) {
    await confirmed(session, `Add ${name}?`);
  }
  await attachSkill(place, skill, plan, { replaces }).catch(refuseChange);
  if (isForeign) await writePin(directory, name, { source, sha256: skill.digest });
  output.json({ ...told, added: true });
  output.line(`added ${name}`);
  const flags = dir === '.' ? '' : ` --dir ${shellWord(dir)}`;
  for (const { name: variable, kind } of plan.missing) {
    if (kind === 'optional') continue;
    const command = commandLine(`secret set ${variable}${flags}`);
    const need = kind === 'required' ? 'it needs' : 'it needs one of its variables, such as';
    output.note(plainLine(`${need} ${variable}: set it with \`${command}\``));
  }
  output.note('an agent that runs has it from its next start on');
}

/** Reads the one skill at a source, or the one of that name. Rejects with AddSkillError. */
async function foreignSkill(
  place: AgentPlace,
  source: string,
  wanted: string | undefined,
): Promise<RegistrySkill> {
  const { skills: found, refusals } = await skillsOf(await readSkillFiles(source, place));
  const refusal = refusals.find(({ key }) => wanted === undefined || key === `skills/${wanted}`);
  if (refusal !== undefined) throw new AddSkillError('skill_unusable', refusal.why ?? refusal.key);
  const skills = found.filter(({ skill }) => wanted === undefined || skill.id === wanted);
  const [first] = skills;
  const names = found.map(({ skill }) => skill.id).join(', ');
  if (first === undefined) {
    const what = names === '' ? 'no SKILL.md' : `no skill ${wanted}; it has ${names}`;
    throw new AddSkillError('skill_unusable', `${source} has ${what}`);
  }
  if (skills.length > 1) {
    throw new AddSkillError(
      'skill_unusable',
      `${source} has ${skills.length} skills; choose one with --skill: ${names}`,
    );
  }
  return first;
}

/** Compares a copy with the skill of the agent; `null` if it has the same copy. */
async function standingOf(
  directory: string,
  { skill: { id }, text, others = new Map() }: RegistrySkill,
): Promise<{ replaces: boolean; difference: SkillDifference | null } | null> {
  const pin = readPin(directory, id);
  if (pin === null || !existsSync(join(directory, 'skills', id))) {
    return { replaces: false, difference: null };
  }
  const files = new Map([...others, ['SKILL.md', Buffer.from(text)]]);
  const difference = await comparePinned(directory, id, { pin, files });
  return difference === null ? null : { replaces: true, difference };
}

/** Prints what a skill from elsewhere would bring, in addition to the plan. */
function printForeign(
  { output }: Session,
  source: string,
  { skill, others, digest }: RegistrySkill,
): void {
  const { tools, requires, guardrails } = skill;
  const { required, oneOf, optional } = requires.env;
  const scripts = [...(others?.keys() ?? [])].filter((path) => /(?:^|\/)scripts\//.test(path));
  const rows = [
    ['tools', tools.map(({ name }) => name).join(', ') || 'none: its text is for the model'],
    [
      'scripts',
      scripts.length === 0 ? 'none' : `${scripts.length}, of which ${tools.length} run as tools`,
    ],
    ['programs', requires.bins.map(programOf).join(', ') || 'none'],
    ['env', [...required, ...oneOf, ...optional].join(', ') || 'none'],
    ['rules', guardrails === undefined ? 'none' : JSON.stringify(guardrails.value)],
    ['source', source],
    ['sha256', digest],
  ];
  for (const [label = '', text = ''] of rows)
    output.line(plainLine(`  ${label.padEnd(8)} ${text}`));
}

function programOf(name: string): string {
  return findProgram(name) === null ? `${name} (not installed)` : name;
}

function printDifference({ output }: Session, { added, changed, removed }: SkillDifference): void {
  for (const path of added) output.line(plainLine(`  + ${path}`));
  for (const path of changed) output.line(plainLine(`  ~ ${path}`));
  for (const path of removed) output.line(plainLine(`  - ${path}`));
}

function print({ output }: Session, directory: string, name: string, plan: SkillPlan): void {
  const { heldAdded, to, isDeferTurnedOn, missing, files } = plan;
  output.line(plainLine(`${name} for the agent in ${directory}`));
  output.line(`  files    ${files.length} in skills/${name}`);
  output.line(plainLine(`  egress   ${reachOf(plan)}`));
  const asked =
    heldAdded.length === 0 ? 'no rule is added' : `${heldAdded.join(', ')}: ask ${to.join(', ')}`;
  output.line(plainLine(`  held     ${asked}`));
  if (isDeferTurnedOn) output.line('           security.defer.enabled is turned on for them');
  const lacking = missing.map((one) => `${one.name} (${one.kind.replace('_', ' ')})`);
  output.line(`  missing  ${lacking.join(', ') || 'no variable'}`);
}

function reachOf({ scriptsReach, egressMode }: SkillPlan): string {
  if (egressMode === 'deny-all') return 'scripts have no network access (mode: deny-all)';
  if (egressMode === 'dev-open') return 'its scripts reach every host (mode: dev-open)';
  const hosts = scriptsReach.join(', ');
  return hosts === '' ? 'scripts have no allowed hosts' : `scripts can reach ${hosts}`;
}
