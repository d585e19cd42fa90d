import { cpSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Tool, ToolError } from '../../src/actors/ports/tool.ts';
import { systemClock } from '../../src/actors/system-clock.ts';
import { createToolbox } from '../../src/actors/tools/tools.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';

const example = join(import.meta.dirname, '../../examples/releases');

let directory: string;
let tools: Map<string, Tool>;

beforeEach(async () => {
  directory = realpathSync(agentFolder({}));
  cpSync(example, directory, { recursive: true });
  const config = { tools: [], builtin_tools: [], skills: { path: 'SKILL.md' } };
  const toolbox = await createToolbox({ directory, config, env: {}, clock: systemClock() });
  expect([toolbox.problems, toolbox.warnings]).toEqual([[], []]);
  tools = toolbox.tools;
});

async function call(name: string, args: JsonObject, callId = 'c1'): Promise<JsonObject> {
  const signal = new AbortController().signal;
  const run = { taskId: 't1', callId, correlationId: 'x', credential: null, tags: {}, signal };
  return JSON.parse((await tools.get(name)?.run(args, run)) ?? '') as JsonObject;
}

const tag = (version: string, callId?: string) => call('tag_release', { version }, callId);
const changelogPath = () => join(directory, 'project/CHANGELOG.md');
const changelog = () => readFileSync(changelogPath(), 'utf8');
const tags = () => readdirSync(join(directory, 'project/tags'));
const today = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);

describe('the releases example', () => {
  it('has a skill with two tools that may run again, and one in prose', () => {
    const found = [...tools.values()].map(({ name, idempotent }) => [name, idempotent]);
    expect(found).toEqual([
      ['unreleased_changes', true],
      ['tag_release', true],
    ]);
  });

  it('shows the changes of a release, and its version', async () => {
    const [, changes = ''] = changelog().split(/## Unreleased\n\n|\n\n## 1\.4\.0/);
    const found = await call('unreleased_changes', {});
    expect(found).toEqual({ last: '1.4.0', next: '1.5.0', changes });
  });

  it.each([
    ['### Fixed\n\n- a', '1.4.1'],
    ['### Fixed\n\n- a\n\n### Changed\n\n- b', '1.5.0'],
    ['### Removed\n\n- a\n\n### Added\n\n- b', '2.0.0'],
    ['', null],
  ])('names the requested version %j', async (changes, next) => {
    writeFileSync(changelogPath(), `# C\n\n## Unreleased\n\n${changes}\n\n## 1.4.0 - 2026-10-06\n`);
    expect(await call('unreleased_changes', {})).toEqual({ last: '1.4.0', next, changes });
  });

  it('tags a release, and changes one line of the changelog', async () => {
    const before = changelog();
    const made = await tag('1.5.0');
    const [, changes] = before.split(/## Unreleased\n\n|\n\n## 1\.4\.0/);
    expect(made).toEqual({ tag: 'v1.5.0', date: today, changes });
    const heading = `## Unreleased\n\n## 1.5.0 - ${String(made['date'])}\n`;
    expect(changelog()).toBe(before.replace('## Unreleased\n', heading));
    expect(tags()).toEqual(['v1.5.0.json']);
    expect(readdirSync(join(directory, 'project')).toSorted()).toEqual(['CHANGELOG.md', 'tags']);
  });

  it('answers a repeated call with the same tag, and changes nothing', async () => {
    const made = await tag('1.5.0');
    const after = changelog();
    expect(await tag('1.5.0')).toEqual(made);
    expect(changelog()).toBe(after);
  });

  it('finishes a call that was stopped between the tag and the changelog', async () => {
    const before = changelog();
    const made = await tag('1.5.0');
    const after = changelog();
    const added = before.replace('(#418).\n', '(#418).\n- Added since (#420).\n');
    for (const [stopped, whole] of [
      [before, after],
      [added, after.replace('## Unreleased\n', '## Unreleased\n\n- Added since (#420).\n')],
    ] as const) {
      writeFileSync(changelogPath(), stopped);
      expect(await tag('1.5.0')).toEqual(made);
      expect(changelog()).toBe(whole);
    }
  });

  it.each([
    ['1.4.0', '1.4.0 is not above 1.4.0, the last version; take a higher one'],
    ['1.3.9', '1.3.9 is not above 1.4.0, the last version; take a higher one'],
  ])('refuses %s, and changes nothing', async (version, why) => {
    const before = changelog();
    const failed = new ToolError(`tag_release failed with exit code 1: ${why}`);
    await expect(tag(version)).rejects.toThrow(failed);
    expect([changelog(), tags()]).toEqual([before, []]);
  });

  it.each(['1.5', 'v1.5.0', '1.5.0/../../x', '01.5.0'])(
    'accepts no version like %s',
    async (name) => {
      await expect(tag(name)).rejects.toThrow(/^tag_release: argument version must match pattern/);
    },
  );

  it('refuses a version of another call, and an empty release', async () => {
    await tag('1.5.0');
    await expect(tag('1.5.0', 'c2')).rejects.toThrow(
      /v1\.5\.0 was already released on \d{4}-\d\d-\d\d; take the next version$/,
    );
    await expect(tag('1.6.0', 'c2')).rejects.toThrow(
      /there is nothing to release; the changelog has no changes$/,
    );
  });

  it.each([
    ['the same version', ['1.5.0', '1.5.0', '1.5.0']],
    ['different versions', ['1.5.0', '1.6.0', '2.0.0']],
  ])('releases the same changes once for concurrent calls with %s', async (_, versions) => {
    const calls = versions.map((version, at) => tag(version, `c${at}`));
    const made = (await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled');
    expect(made.length).toBeLessThanOrEqual(1);
    expect(tags()).toHaveLength(made.length);
    expect(changelog().match(/\(#412\)/g)).toHaveLength(1);
  });

  it('reports an invalid changelog', async () => {
    writeFileSync(changelogPath(), '# Changelog\n');
    await expect(call('unreleased_changes', {})).rejects.toThrow(
      'the changelog has no heading "## Unreleased"; add one at its top',
    );
  });
});
