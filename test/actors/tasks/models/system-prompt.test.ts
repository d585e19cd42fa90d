import { expect, it } from 'vitest';
import { systemPrompt, type ToldSkill } from '../../../../src/actors/tasks/models/system-prompt.ts';
import type { ScriptDefinition } from '../../../../src/actors/tools/skills/skill.ts';

const plain = {
  id: 'tone',
  name: 'Tone',
  description: 'Short\nanswers',
  body: 'Be brief.',
  tools: [],
};
const scripted = {
  id: 'till',
  name: 'Till',
  description: 'd'.repeat(2_000),
  body: 'Pays.',
  tools: [{} as ScriptDefinition],
};
const full = (...skills: ToldSkill[]) => ({ skills, isProgressive: false });

it('the system prompt is the instructions and the skills without scripts', () => {
  expect(systemPrompt('You pay refunds.\n', full(scripted, plain))).toBe(
    'You pay refunds.\n\n# Skill: Tone\n\nBe brief.',
  );
});

it('the system prompt is empty without content', () => {
  expect(systemPrompt(' \n', full(scripted, { ...plain, body: '' }))).toBeNull();
});

it('the system prompt names every skill in one line when the model opens them itself', () => {
  const disclosed = { skills: [scripted, plain], isProgressive: true };
  expect(systemPrompt('You pay refunds.', disclosed)).toBe(
    [
      'You pay refunds.',
      '# Skills',
      'Call skill_open with the name of a skill before work that its description covers.',
      `- till: ${'d'.repeat(1_024)}\n- tone: Short answers`,
    ].join('\n\n'),
  );
});
