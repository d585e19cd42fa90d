import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { exampleOf, type Key, keysOf, pathText } from '../../scripts/configuration/keys.ts';
import { configurationPage, describedFiles } from '../../scripts/configuration/page.ts';
import { parseConfig } from '../../src/actors/config/config.ts';
import { channelSchemas } from '../../src/actors/config/schema-channels.ts';
import { dashboardSchema } from '../../src/actors/config/schema-dashboard.ts';
import { frontmatterSchema } from '../../src/actors/tools/skills/frontmatter-schema.ts';
import { anEmptyPolicy } from '../helpers/empty-policy.ts';
import { contentOf, environmentOfExamples as env, fileWith } from './key-files.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
const { 'service.yaml': service = {}, ...others } = describedFiles();
const keys = keysOf(service);

describe('the reference of the configuration', () => {
  it('matches the schemas', () => {
    expect(page).toBe(configurationPage());
  });

  it('has a row for every key of the daemon', () => {
    const rows = [...page.matchAll(/^\| (`\S+`(?:, `\w+`)*) \|/gm)].flatMap(([, names = '']) => {
      const [first = '', ...others] = names.split(', ').map((name) => name.slice(1, -1));
      return [first, ...others.map((name) => first.replace(/\w+$/, name))];
    });
    const missing = keys.map(({ path }) => pathText(path)).filter((path) => !rows.includes(path));
    const sections = Object.entries(service.properties ?? {})
      .filter(([, { type }]) => type === 'object')
      .map(([name]) => name);
    const layers = Object.keys(service.properties?.['security']?.properties ?? {});
    const headed = [...sections, ...layers.map((layer) => `security.${layer}`)];
    expect(missing.filter((path) => !headed.includes(path))).toEqual([]);
    for (const name of headed) expect(page).toMatch(new RegExp(`^##+ ${name}$`, 'm'));
  });

  it.each(keys.map((key) => [pathText(key.path), key] as const))(
    'shows a valid example for %s',
    (path, key) => {
      const example = exampleOf(key);
      if (example === undefined) return;
      const text = stringify(fileWith(key));
      const reading = parseConfig(text, { file: path, env, readInclude: anEmptyPolicy });
      expect({ text, problems: reading.ok ? [] : reading.problems }).toEqual({
        text,
        problems: [],
      });
    },
  );

  it('shows valid examples for channels, skills and the dashboard', () => {
    for (const [file, schema] of Object.entries(others)) {
      const content = contentOf(schema);
      const [adapter = ''] = file.split('-config');
      const own = { 'SKILL.md': frontmatterSchema, 'dashboard.yaml': dashboardSchema };
      const reader = own[file as 'SKILL.md'] ?? channelSchemas[adapter as 'slack'];
      expect(reader.safeParse(content)).toMatchObject({ success: true });
    }
  });

  it('marks every refused value as unavailable', () => {
    const refused = keys.flatMap((key) => {
      const { enum: choices = key.schema.items?.enum ?? [], description } = key.schema;
      const isList = key.schema.items !== undefined;
      const bad = choices.filter((choice) => {
        const text = stringify(fileWith(key, isList ? [choice] : choice));
        const reading = parseConfig(text, { file: 'service.yaml', env });
        const problems = reading.ok ? [] : reading.problems;
        return problems.some(({ message }) => message.includes('not available in this version'));
      });
      return bad.length > 0 && !description?.includes('not available in this version')
        ? [[pathText(key.path), bad]]
        : [];
    });
    expect(refused).toEqual([]);
  });

  it('has an example for each key', () => {
    const [key] = keysOf({ properties: { wait: { type: 'string', description: 'A wait.' } } });
    expect(() => exampleOf(key as Key)).toThrow('wait has no example; write one into its schema');
  });
});

describe('npm run configuration', () => {
  it('writes a page that --check accepts, and names a stale one with the command to run', () => {
    const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'configuration.md');
    expect(run('--out', file)).toEqual({ status: 0, stderr: '' });
    expect(run('--out', file, '--check')).toEqual({ status: 0, stderr: '' });
    writeFileSync(file, '');
    expect(run('--out', file, '--check')).toEqual({
      status: 1,
      stderr: 'docs/configuration.md is stale; run npm run configuration and commit it\n',
    });
  });
});

function run(...args: string[]): { status: number | null; stderr: string } {
  const script = join(root, 'scripts/configuration.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  return { status, stderr };
}
