import { expect, it } from 'vitest';
import { embedderAddress } from '../../../../src/actors/governance/alignment/alignment.ts';

it.each([
  [{ enabled: true, provider: 'openai' }, 'https://api.openai.com/v1'],
  [
    { enabled: true, provider: 'openai', base_url: 'https://proxy.example.com/v1/' },
    'https://proxy.example.com/v1',
  ],
  [{ enabled: true, provider: 'ollama' }, 'http://127.0.0.1:11434/v1'],
  [{ enabled: true, provider: 'openai-compatible' }, null],
  [{ enabled: true, provider: 'local' }, null],
  [{ enabled: false, provider: 'openai' }, null],
] as const)('the embedding request of %j goes to its address', (settings, address) => {
  expect(embedderAddress(settings)).toBe(address);
});
