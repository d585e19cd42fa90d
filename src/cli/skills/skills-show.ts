import { commandLine } from '../../actors/command-line.ts';
import { asSkillDetail } from '../../agent/skills/skill-words.ts';
import { plainText } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { knownSkill } from './known-skill.ts';

/**
 * `skills show NAME`: prints what a registry skill does, the hosts it reaches, the variables it needs, the tools it
 * holds, and its text.
 */
export async function skillsShow({ output }: Session, name: string): Promise<void> {
  const skill = asSkillDetail(await knownSkill(name));
  output.json(skill);
  const { requires, held, tools, risk, egress_domains: hosts } = skill;
  output.line(`${output.colours.bold(skill.name)} ${skill.description}`);
  output.line(`  category  ${skill.category}`);
  output.line(`  tools     ${tools.join(', ')}`);
  output.line(`  held      ${held.join(', ') || 'none'}`);
  output.line(`  egress    ${hosts.join(', ') || 'none'}`);
  output.line(`  needs     ${needsOf(requires)}`);
  output.line(`  risk      ${risk}`);
  output.line();
  output.line(plainText(skill.skill_md.trimEnd()));
  output.note(`add it with \`${commandLine(`skills add ${skill.name}`)}\``);
}

function needsOf({ bins, required, one_of: oneOf, optional }: Record<string, string[]>): string {
  const words = [
    ...(bins ?? []).map((name) => `${name} (program)`),
    ...(required ?? []),
    ...(oneOf?.length ? [`one of ${oneOf.join(', ')}`] : []),
    ...(optional ?? []).map((name) => `${name} (optional)`),
  ];
  return words.join(', ') || 'nothing';
}
