import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSection } from '../../../src/actors/config/read-section.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const usual = { providers: ['encrypted-file', 'env'], path: '.service/secrets.enc' };

function read(text: string) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'service.yaml'), text);
  return readSection(folder, 'secrets', { PLACE: 'kept' });
}

it('the secrets section is read before variables are filled in', () => {
  const text = 'agent_id: "${UNSET}"\nsecrets: {providers: [env], path: "${PLACE}/s.enc"}\n';
  expect(read(text)).toEqual({ providers: ['env'], path: 'kept/s.enc' });
});

it.each([
  ['it is empty', ''],
  ['it is missing', 'agent_id: x\n'],
  ['a provider is unknown', 'secrets: {providers: [vault]}\n'],
  ['the file is not YAML', 'secrets: [\n'],
  ['the file is nested too deeply', '['.repeat(5000)],
])('the secrets section has its defaults when %s', (_, text) => {
  expect(read(text)).toEqual(usual);
});

it('the secrets section has its defaults when there is no file', () => {
  expect(readSection(temporaryFolder(), 'secrets', {})).toEqual(usual);
});
