import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseConfig } from '../../src/actors/config/config.ts';
import { authSchema } from '../../src/actors/config/schema-auth.ts';
import { describeKeys } from '../../src/actors/config/unknown-keys.ts';

const page = readFileSync(new URL('../../docs/door.md', import.meta.url), 'utf8');
const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];

function read(text: string) {
  const reading = parseConfig(text, { file: 'door.md', env: { SERVICE_TOKEN: 'token-of-ops' } });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading;
}

it('the page shows every provider with valid settings', () => {
  const { config, warnings } = read(yaml);
  expect(warnings).toEqual([]);
  expect(config.auth.providers.map(({ type }) => type)).toEqual([
    'static_token',
    'oidc',
    'directory_ad',
    'cloud_iap',
    'cloud_sigv4',
    'http_verifier',
  ]);
});

it('the page marks only defaults as defaults', () => {
  const lines = yaml.split('\n');
  const isDefault = (line: string) => / # default(;|$)/.test(line);
  expect(lines.filter(isDefault).length).toBeGreaterThan(12);
  const { config } = read(lines.filter((line) => !isDefault(line)).join('\n'));
  expect(config.auth).toEqual(read(yaml).config.auth);
});

it('the page names every setting of every provider', () => {
  const { providers } = describeKeys(authSchema).properties ?? {};
  const options = providers?.items?.oneOf ?? providers?.items?.anyOf ?? [];
  const blocks = yaml.split('- type: ').slice(1);
  expect(options).toHaveLength(6);
  for (const { properties } of options) {
    const type = String(properties?.['type']?.const);
    const block = blocks.find((text) => text.startsWith(type)) ?? '';
    const known = Object.keys(properties?.['settings']?.properties ?? {});
    expect(known).not.toEqual([]);
    expect([type, known.filter((key) => !block.includes(`${key}:`))]).toEqual([type, []]);
  }
});
