import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../../src/actors/ports/tool.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { isWithoutBwrap, needsBwrap } from '../sandbox/needs-bwrap.ts';
import { agentFolder } from '../skills/agent-folder.ts';
import { aBuiltin } from './a-builtin.ts';
import { aRun } from './isolated-script.ts';

needsBwrap();

const canary = 'canary-of-the-operator';

async function call(
  directory: string,
  args: JsonObject,
  sandbox: 'bwrap' | 'env' = 'bwrap',
): Promise<string> {
  const tool = await aBuiltin('cli_execute', directory, {
    agentDirectory: directory,
    settings: () => ({ commands: ['cat', 'echo', 'sleep', 'touch', 'ls'], timeout: 1_000 }),
    isolation: () => ({ proxy: null, sandbox, hidden: [join(directory, '.service')] }),
  });
  return tool.run(args, aRun());
}

describe('cli_execute', () => {
  it('runs nothing without a sandbox', async () => {
    const directory = agentFolder({ '.service/runtime.token': canary });
    const args = { command: 'cat', args: ['.service/runtime.token'] };
    await expect(call(directory, args, 'env')).rejects.toEqual(
      new ToolError('cli_execute was not run: there is no sandbox'),
    );
  });

  it('has a definition of its programs and the code of the agent', async () => {
    const directory = agentFolder({ 'report.py': 'one' });
    const tool = await aBuiltin('cli_execute', directory, {
      agentDirectory: directory,
      settings: () => ({ commands: ['cat', 'no-such-program'] }),
    });
    const sha = expect.stringMatching(/^[0-9a-f]{64}$/);
    const before = await tool.identity?.();
    expect(before).toEqual({
      programs: { cat: sha, 'no-such-program': 'missing' },
      code: { 'report.py': sha },
    });
    writeFileSync(join(directory, 'report.py'), 'other');
    expect(await tool.identity?.()).not.toEqual(before);
  });

  it.each(['bash', '/bin/cat', 'cat ', '../cat'])('does not run %j', async (command) => {
    await expect(call(agentFolder({}), { command })).rejects.toThrow(
      'cli_execute: argument command must be one of cat, echo, sleep, touch, ls',
    );
  });
});

describe.skipIf(isWithoutBwrap)('cli_execute in its sandbox', () => {
  it('passes its arguments unchanged, in the folder of the agent', async () => {
    const directory = agentFolder({ 'data/a.txt': 'tea' });
    expect(await call(directory, { command: 'cat', args: ['data/a.txt'] })).toBe('tea');
    expect(await call(directory, { command: 'cat', stdin: 'from stdin' })).toBe('from stdin');
    const words = ['$(id)', '`id`', '; id', '*', '"'];
    expect(await call(directory, { command: 'echo', args: words })).toBe(words.join(' '));
  });

  it('cannot read secrets or write the files of the agent', async () => {
    const directory = agentFolder({
      '.service/runtime.token': canary,
      '.env': canary,
      'service.yaml': canary,
      'data/a.txt': 'tea',
    });
    const paths = ['.service/runtime.token', '.env', 'service.yaml', '/proc/1/environ'];
    for (const path of paths) {
      const outcome = await call(directory, { command: 'cat', args: [path] }).catch(String);
      expect(outcome).not.toContain(canary);
    }
    await expect(call(directory, { command: 'touch', args: ['new.txt'] })).rejects.toThrow(
      /^cli_execute failed with exit code 1: /,
    );
    expect(existsSync(join(directory, 'new.txt'))).toBe(false);
    expect(readFileSync(join(directory, '.env'), 'utf8')).toBe(canary);
  });

  it('is stopped at its time limit', async () => {
    await expect(call(agentFolder({}), { command: 'sleep', args: ['30'] })).rejects.toEqual(
      new ToolError('cli_execute took too long and was stopped; its outcome is unknown', {
        isUnknown: true,
      }),
    );
  });
});
