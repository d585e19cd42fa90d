import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseConfig } from '../../src/actors/config/config.ts';

const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('starts its two lines for Slack without a warning', () => {
  const [lines = ''] = /channels: \[slack\].*\nsecurity: .*\n/.exec(page) ?? [];
  const reading = parseConfig(`agent_id: refunds\n${lines}`, { file: 'README.md', env: {} });
  expect(lines).not.toBe('');
  expect(reading).toMatchObject({ ok: true, warnings: [] });
});
