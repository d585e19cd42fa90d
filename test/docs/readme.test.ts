import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/actors/config/config.ts';
import { builtinToolNames } from '../../src/actors/tools/builtin/builtin-tools.ts';
import { cleanUp, holdpoint } from '../cli/holdpoint.ts';

afterAll(cleanUp);

const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('the two lines for Slack start without a warning', () => {
  const [lines = ''] = /channels: \[slack\].*\nsecurity: .*\n/.exec(page) ?? [];
  const reading = parseConfig(`agent_id: refunds\n${lines}`, { file: 'README.md', env: {} });
  expect(lines).not.toBe('');
  expect(reading).toMatchObject({ ok: true, warnings: [] });
});

it('the linked page has a row for every builtin tool', () => {
  const tools = readFileSync(new URL('../../docs/tools.md', import.meta.url), 'utf8');
  expect(page).toContain('(docs/tools.md)');
  const rows = [...tools.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
  expect(rows.toSorted()).toEqual(builtinToolNames);
});

describe('a feature listed as missing', () => {
  /** The names in backticks up to the first full stop of an entry. */
  function namesIn(entry: string): string[] {
    const [, list = ''] =
      new RegExp(`\\n- \\*\\*${entry}\\*\\*: ([^]*?)\\.(?=\\s)`).exec(page) ?? [];
    return [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
  }

  function storedIn(kind: string): string {
    return `agent_id: a\nstore: {kind: ${kind}}\n`;
  }

  it('is no command of this version', async () => {
    const { stdout } = await holdpoint(['--help']);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name);
    const wanted =
      'try init run serve ui validate build skills task audit secret schema key doctor'.split(' ');
    expect(wanted.filter((name) => !commands.includes(name))).toEqual(namesIn('Commands'));
  });

  it('is refused where service.yaml asks for it', () => {
    const reading = parseConfig(storedIn('mysql'), { file: 'service.yaml', env: {} });
    expect(reading).toMatchObject({ ok: false, problems: [{ path: 'store.kind' }] });
  });

  it('is neither of the existing stores', () => {
    const env = { SERVICE_DATABASE_URL: 'postgres://agent@db.example.com/agents' };
    for (const kind of ['sqlite', 'postgres']) {
      const reading = parseConfig(storedIn(kind), { file: 'service.yaml', env });
      expect(reading).toMatchObject({ ok: true, warnings: [], config: { store: { kind } } });
    }
  });
});
