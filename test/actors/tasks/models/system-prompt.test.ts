import { expect, it } from 'vitest';
import { systemPrompt } from '../../../../src/actors/tasks/models/system-prompt.ts';
import type { ScriptDefinition } from '../../../../src/actors/tools/skills/skill.ts';

const plain = { name: 'Tone', body: 'Be brief.', tools: [] };
const scripted = { name: 'Till', body: 'Pays.', tools: [{} as ScriptDefinition] };

it('is the instructions and the skills without scripts', () => {
  expect(systemPrompt('You pay refunds.\n', [scripted, plain])).toBe(
    'You pay refunds.\n\n# Skill: Tone\n\nBe brief.',
  );
});

it('is nothing when there is nothing to say', () => {
  expect(systemPrompt(' \n', [scripted, { ...plain, body: '' }])).toBeNull();
});
