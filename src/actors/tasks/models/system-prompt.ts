/** The parts of a skill that a prompt needs; a skill with tools is described by their descriptions. */
export interface ToldSkill {
  name: string;
  body: string;
  tools: readonly unknown[];
}

/**
 * Creates the system prompt: the agent's instructions, and the text of each skill without scripts
 * (docs/contract/models.md); `null` if it is empty.
 */
export function systemPrompt(instructions: string, skills: readonly ToldSkill[]): string | null {
  const texts = skills
    .filter(({ tools, body }) => tools.length === 0 && body !== '')
    .map(({ name, body }) => `# Skill: ${name}\n\n${body}`);
  const prompt = [instructions.trim(), ...texts].filter((text) => text !== '').join('\n\n');
  return prompt === '' ? null : prompt.toWellFormed();
}
