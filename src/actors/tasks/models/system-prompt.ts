import { plainLine } from '../../../machines/plain-line.ts';

/** The parts of a skill that a prompt needs; a skill with tools is described by their descriptions. */
export interface ToldSkill {
  id: string;
  name: string;
  description: string;
  body: string;
  tools: readonly unknown[];
}

/**
 * Creates the system prompt: the agent's instructions, and the text of each skill without scripts, or the names of all
 * skills if the model opens them itself (docs/contract/models.md); `null` if it is empty.
 */
export function systemPrompt(
  instructions: string,
  { skills, isProgressive }: { skills: readonly ToldSkill[]; isProgressive: boolean },
): string | null {
  const texts = isProgressive
    ? [catalogue(skills)]
    : skills
        .filter(({ tools, body }) => tools.length === 0 && body !== '')
        .map(({ name, body }) => `# Skill: ${name}\n\n${body}`);
  const prompt = [instructions.trim(), ...texts].filter((text) => text !== '').join('\n\n');
  return prompt === '' ? null : prompt.toWellFormed();
}

/** Longest description of a skill in the list, in characters. */
const longestDescription = 1_024;

/** The list is the same in every turn, so that providers can cache it. */
function catalogue(skills: readonly ToldSkill[]): string {
  const lines = skills.map(({ id, description }) => {
    const about = plainLine(description.replaceAll(/\s+/g, ' '))
      .slice(0, longestDescription)
      .toWellFormed();
    return `- ${id}${about === '' ? '' : `: ${about}`}`;
  });
  return `# Skills\n\nCall skill_open with the name of a skill before work that its description covers.\n\n${lines.join('\n')}`;
}
