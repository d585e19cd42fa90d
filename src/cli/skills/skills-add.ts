import { confirm } from '@clack/prompts';
import { commandLine } from '../../actors/command-line.ts';
import { attachSkill, planSkill, type SkillPlan } from '../../agent/attach-skill.ts';
import { asSkillPlan } from '../../agent/skill-words.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { agentDirectory } from '../agent-directory.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import { refuseChange } from '../refuse-change.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { knownSkill } from './known-skill.ts';

export interface SkillsAddOptions {
  dir: string;
  preview?: boolean;
  yes?: boolean;
}

/**
 * `skills add NAME`: shows the effect of adding a skill to an agent, asks for confirmation on a terminal, and adds it.
 */
export async function skillsAdd(
  session: Session,
  name: string,
  { dir, preview = false, yes = false }: SkillsAddOptions,
): Promise<void> {
  const { output, stdin } = session;
  const directory = agentDirectory(dir);
  const skill = await knownSkill(name);
  const place = { directory, env: await environmentOf(session, directory) };
  const plan = await planSkill(place, skill).catch(refuseChange);
  print(session, directory, skill.skill.id, plan);
  const told = { ...asSkillPlan(name, plan), directory };
  if (preview) {
    output.json({ ...told, added: false });
    return;
  }
  const isAsking = !yes && stdin.isTTY === true && output.stderr.isTTY === true;
  if (isAsking) {
    const streams = { input: stdin, output: output.stderr };
    const answer = await confirm({ ...streams, message: `Add ${name}?` });
    if (answer !== true) {
      throw new CliError(`${name} was not added`, {
        code: 'interrupted',
        exitCode: exitCodes.interrupted,
      });
    }
  }
  await attachSkill(place, skill, plan).catch(refuseChange);
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
