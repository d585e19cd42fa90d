import { expect, it } from 'vitest';
import { usualKeyVariable } from '../../../src/machines/models/key-variable.ts';

it.each([
  ['openai', 'OPENAI_API_KEY'],
  ['anthropic', 'ANTHROPIC_API_KEY'],
  ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ['openai-compatible', null],
  // Nothing of what each object has is a provider.
  ['constructor', null],
])('the key of %s is read from %s when no other variable is named', (provider, variable) => {
  expect(usualKeyVariable(provider)).toBe(variable);
});
