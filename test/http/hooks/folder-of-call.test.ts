import { describe, expect, it } from 'vitest';
import { dialects } from '../../../src/http/hooks/dialects.ts';
import type { JsonObject } from '../../../src/machines/json.ts';

const claude = (args: JsonObject, cwd?: string): JsonObject => ({
  ...{ session_id: 's', hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 't' },
  ...{ tool_input: args, ...(cwd === undefined ? {} : { cwd }) },
});

const opencode = (tool: string, args: JsonObject): JsonObject => ({
  ...{ event: 'tool.execute.before', sessionID: 's', callID: 'c', tool, args, cwd: '/app' },
});

const cursor = (args: JsonObject): JsonObject => ({
  ...{ hook_event_name: 'preToolUse', conversation_id: 'c', tool_use_id: 't', cwd: '/app' },
  ...{ tool_name: 'Shell', tool_input: args },
});

describe('the folder of a call', () => {
  it.each<[string, JsonObject, string | null]>([
    ['claude-code', claude({ command: 'ls' }, '/app/'), '/app'],
    ['claude-code', claude({ command: 'ls', workdir: '/etc' }, '/app'), '/app'],
    ['claude-code', claude({ command: 'ls' }), null],
    ['codex', claude({ command: 'ls' }, '/app'), null],
    ['opencode', opencode('bash', { command: 'ls' }), '/app'],
    ['opencode', opencode('bash', { command: 'ls', workdir: '/etc' }), '/etc'],
    ['opencode', opencode('bash', { command: 'ls', workdir: './src/' }), '/app/src'],
    ['opencode', opencode('bash', { command: 'ls', workdir: '../x' }), '/app/../x'],
    ['opencode', opencode('bash', { command: 'ls', workdir: ['/etc'] }), null],
    ['opencode', opencode('read', { filePath: 'a', workdir: '/etc' }), '/app'],
    ['cursor', cursor({ command: 'ls', working_directory: '/etc' }), '/etc'],
    ['cursor', cursor({ command: 'ls' }), '/app'],
    [
      'cursor',
      {
        ...{ hook_event_name: 'beforeShellExecution', conversation_id: 'c', command: 'ls' },
        cwd: '/etc',
      },
      '/etc',
    ],
    ['copilot', { toolName: 'bash', toolArgs: '{"command":"ls"}', cwd: '/app' }, '/app'],
  ])('of %s is read from its arguments and its event', (name, event, cwd) => {
    expect(dialects.get(name)?.read(event)).toMatchObject({ kind: 'call', cwd });
  });

  it.each([
    ['python3 -i a.py', true],
    ['/usr/bin/ssh host', true],
    ['rm -rf build', false],
  ])('of %j of Codex has a warning about its input: %s', (command, isWarned) => {
    const read = dialects.get('codex')?.read(claude({ command }));
    const warning = 'Codex asks no hook for what is typed into this program later (write_stdin)';
    expect(read).toMatchObject({ kind: 'call', context: isWarned ? { warning } : {} });
    expect(JSON.stringify(read).includes(warning)).toBe(isWarned);
  });

  it('of a Codex shell is unknown, and approvers see the folder of the session', () => {
    expect(dialects.get('codex')?.read(claude({ command: 'ls' }, '/app'))).toMatchObject({
      context: { session_cwd: '/app' },
    });
  });
});
