import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseConfig } from '../../src/actors/config/config.ts';
import { redactionNames } from '../../src/actors/governance/guardrails/guardrails.ts';

const page = readFileSync(new URL('../../docs/governance.md', import.meta.url), 'utf8');

it('the page shows a valid configuration', () => {
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const env = { SHOP_KEY: 'key-of-the-shop', SERVICE_TOKEN: 'token-of-ops' };
  const reading = parseConfig(yaml, { file: 'governance.md', env });
  expect(reading).toMatchObject({ ok: true, warnings: [] });
});

it('the page names every redaction rule', () => {
  expect(redactionNames.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
