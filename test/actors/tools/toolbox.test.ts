import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/actors/ports/clock.ts';
import { createToolbox, type ToolSettings } from '../../../src/actors/tools/tools.ts';
import { aRun } from './builtin/isolated-script.ts';
import { agentFolder } from './skills/agent-folder.ts';

const clock: Clock = { now: () => 0, setTimeout: () => 0, clearTimeout: () => undefined };

async function toolbox(
  files: Record<string, string>,
  settings: Partial<ToolSettings> = {},
  { env = {}, writable = [] }: { env?: Record<string, string>; writable?: string[] } = {},
) {
  const config = { builtin_tools: [], tools: [], skills: { path: 'SKILL.md' }, ...settings };
  const directory = realpathSync(agentFolder(files));
  const folders = writable.map((folder) => join(directory, folder));
  return createToolbox({ directory, config, env, clock, writable: () => folders });
}

const head = '---\nname: s\ndescription: d\n';
const twoTools = {
  'SKILL.md': `${head}---\n## Tool: one\nOne.\n## Tool: two\nTwo.\n`,
  'scripts/one.sh': '',
  'scripts/two.sh': '',
};

describe('createToolbox', () => {
  it('collects builtin and script tools', async () => {
    const { tools, skills, problems, warnings } = await toolbox(twoTools, {
      builtin_tools: ['datetime_now'],
      tools: [{ name: 'two', idempotent: true }],
    });
    expect([...tools.values()].map(({ name, idempotent }) => [name, idempotent])).toEqual([
      ['datetime_now', true],
      ['one', false],
      ['two', true],
    ]);
    expect([...tools.keys()]).toEqual(['datetime_now', 'one', 'two']);
    expect(skills.map(({ id }) => id)).toEqual(['s']);
    expect([problems, warnings]).toEqual([[], []]);
  });

  it('tells a script the absolute folder of the agent', async () => {
    const skill = `${head}---\n## Tool: where\nWhere.\n`;
    const directory = agentFolder({
      'SKILL.md': skill,
      'scripts/where.sh': 'echo "$SERVICE_AGENT_DIR"',
    });
    const config = { builtin_tools: [], tools: [], skills: { path: 'SKILL.md' } };
    const { tools } = await createToolbox({
      directory: `${directory}/scripts/..`,
      config,
      env: {},
      clock,
    });
    const signal = new AbortController().signal;
    const run = {
      taskId: 't',
      callId: 'c',
      correlationId: 'x',
      credential: null,
      tags: {},
      signal,
    };
    expect(await tools.get('where')?.run({}, run)).toBe(directory);
  });

  it('lets a setting add idempotence and not remove it', async () => {
    const metadata = 'metadata: {service: {idempotent: true}}\n';
    const files = {
      ...twoTools,
      'SKILL.md': twoTools['SKILL.md'].replace('---\n##', `${metadata}---\n##`),
    };
    const { tools } = await toolbox(files, { tools: [{ name: 'one', idempotent: false }] });
    expect(tools.get('one')?.idempotent).toBe(true);
  });

  it('lets no tool write the programs of MCP servers, which are started with their own keys', async () => {
    const files = {
      'server.mjs': '',
      'servers/till.py': '',
      'servers/till/pay.py': '',
      'data/x.csv': '',
    };
    const server = { name: 'shop', env: {}, headers: {}, tools: {} };
    const servers = [
      { ...server, command: 'node', args: ['--import=./hook.mjs', 'server.mjs', 'data'] },
      { ...server, command: './bin/till', args: [] },
      { ...server, command: 'python3', args: ['./servers/till.py', 'data/x.csv'] },
    ];
    const { tools } = await toolbox(
      files,
      { builtin_tools: ['file_write'], mcp: { servers } },
      { writable: ['data'] },
    );
    const write = async (path: string) => {
      const args = { path, content: 'x', overwrite: true };
      return tools
        .get('file_write')
        ?.run(args, aRun())
        .catch((error: unknown) => (error as Error).message);
    };
    const refusal = 'file_write: argument path is part of the agent, which tools cannot write';
    for (const path of [
      'server.mjs',
      'hook.mjs',
      'bin/till',
      'servers/till.py',
      'servers/json.py',
      'servers/till/pay.py',
    ]) {
      expect([path, await write(path)]).toEqual([path, refusal]);
    }
    expect(await write('data/x.csv')).toBe('replaced data/x.csv (1 bytes)');
    expect(await write('data/y.csv')).toBe('wrote data/y.csv (1 bytes)');
  });

  it('refuses a script with the name of a builtin tool, with hyphens equal to underscores', async () => {
    const files = {
      'SKILL.md': `${head}---\n## Tool: datetime-now\nX.\n`,
      'scripts/datetime_now.sh': '',
    };
    const { tools, problems } = await toolbox(files, { builtin_tools: ['datetime_now'] });
    expect([...tools.keys()]).toEqual(['datetime_now']);
    expect(problems).toEqual([
      {
        message:
          'tool datetime-now has the name of a builtin tool; rename it or leave the builtin out',
        file: 'SKILL.md',
        line: 5,
        column: 1,
      },
    ]);
  });

  it('keeps one of two tools with one name, with a problem', async () => {
    const { tools, problems } = await toolbox({
      ...twoTools,
      'skills/b/SKILL.md': '---\nname: b\ndescription: d\n---\n## Tool: one\nOther.\n',
      'skills/b/scripts/one.sh': '',
    });
    expect(tools.get('one')?.description).toBe('One.');
    expect(problems).toHaveLength(1);
  });

  it('suggests the nearest name for an unknown one', async () => {
    const { problems, warnings } = await toolbox(twoTools, {
      builtin_tools: ['datetime_new'],
      tools: [{ name: 'tow', idempotent: true }],
    });
    const place = { file: 'service.yaml', line: 1, column: 1 };
    expect(problems).toEqual([
      {
        message: 'builtin_tools: datetime_new is not a builtin tool; the nearest is datetime_now',
        ...place,
      },
    ]);
    expect(warnings).toEqual([
      { message: 'tools: the agent has no tool tow; the nearest is two', ...place },
    ]);
  });

  it('checks the requirements of the skills', async () => {
    const metadata =
      'metadata: {service: {requires: {bins: [sh, no-such-program], env: {required: [KEY, OTHER]}}}}\n';
    const { problems } = await toolbox(
      { 'SKILL.md': `${head}${metadata}---\n` },
      {},
      { env: { KEY: 'k' } },
    );
    expect(problems.map(({ message, file }) => [file, message])).toEqual([
      ['SKILL.md', 'skill s needs the program no-such-program, which is not installed; install it'],
      ['SKILL.md', 'skill s needs the environment variable OTHER; set it'],
    ]);
  });
});
