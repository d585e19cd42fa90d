/** What there is to tell of a skill; one with tools is told by their descriptions. */
export interface ToldSkill {
  name: string;
  body: string;
  tools: readonly unknown[];
}

/**
 * Puts together what a model is told before anything else: the agent's instructions, and the text of each skill that
 * has no scripts (docs/contract/models.md); `null` when there is nothing to say.
 */
export function systemPrompt(instructions: string, skills: readonly ToldSkill[]): string | null {
  const texts = skills
    .filter(({ tools, body }) => tools.length === 0 && body !== '')
    .map(({ name, body }) => `# Skill: ${name}\n\n${body}`);
  const prompt = [instructions.trim(), ...texts].filter((text) => text !== '').join('\n\n');
  return prompt === '' ? null : prompt.toWellFormed();
}
