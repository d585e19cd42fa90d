import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/actors/config/config.ts';
import { builtinToolNames } from '../../src/actors/tools/builtin/builtin-tools.ts';
import { cleanUp, holdpoint } from '../cli/holdpoint.ts';

afterAll(cleanUp);

const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('starts its two lines for Slack without a warning', () => {
  const [lines = ''] = /channels: \[slack\].*\nsecurity: .*\n/.exec(page) ?? [];
  const reading = parseConfig(`agent_id: refunds\n${lines}`, { file: 'README.md', env: {} });
  expect(lines).not.toBe('');
  expect(reading).toMatchObject({ ok: true, warnings: [] });
});

describe('what it says is not there yet', () => {
  /** The names in backticks up to the first full stop of an entry. */
  function namesIn(entry: string): string[] {
    const [, list = ''] =
      new RegExp(`\\n- \\*\\*${entry}\\*\\*: ([^]*?)\\.(?=\\s)`).exec(page) ?? [];
    return [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
  }

  it('is no command of this version', async () => {
    const { stdout } = await holdpoint(['--help']);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    const missing = namesIn('Commands');
    expect(missing).toContain('init');
    expect(commands).toContain('run');
    expect(missing.filter((name) => commands.includes(name))).toEqual([]);
  });

  it('leaves out the builtin tools that are there', () => {
    const [key, ...names] = namesIn('Tools');
    expect([key, names.toSorted()]).toEqual(['builtin_tools', builtinToolNames]);
  });

  it.each([
    ['model: {provider: openai}', { ok: false }],
    ['model: {fallbacks: [{provider: google, name: g}]}', { ok: true }],
    ['secrets: {}', { ok: true }],
    ['store: {kind: postgres}', { ok: false }],
  ])('is refused or warned of when %s asks for it', (asked, outcome) => {
    const reading = parseConfig(`agent_id: a\n${asked}\n`, { file: 'service.yaml', env: {} });
    expect(reading).toMatchObject(outcome);
    expect(reading.ok ? reading.warnings : reading.problems).toHaveLength(1);
  });
});
