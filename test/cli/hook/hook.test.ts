import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { hook } from '../../../src/cli/hook/hook.ts';
import { AgentFolder, type ServiceSettings } from '../../helpers/agent-folder.ts';
import { IllAgent } from '../../helpers/ill-agent.ts';
import { startInFolder, startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { cleanUp, holdpoint, startCommand } from '../holdpoint.ts';

afterAll(cleanUp);

const settings = {
  gate: { tools: { '*': {} } },
  security: {
    defer: {
      enabled: true,
      tools: {
        '*': [
          { when: 'args.command == "ls"', allow: true },
          { to: 'channel:console:*', timeout: '1h' },
        ],
      },
    },
  },
} as ServiceSettings;

const event = {
  ...{ session_id: 's-1', hook_event_name: 'PreToolUse', tool_name: 'Bash' },
  ...{ tool_use_id: 'toolu_01', tool_input: { command: 'make' } },
};

const ls = { ...event, tool_input: { command: 'ls' } };

const allowed = {
  stdout: '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}\n',
  ...{ stderr: '', exitCode: 0 },
};

const blocked = (why: string) => ({
  ...{ stdout: '', stderr: `Holdpoint blocked the call: ${why}\n`, exitCode: 2 },
});

/** Runs the hook of Claude Code in this process. */
function run(content: unknown, words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const stdin = (async function* () {
    yield Buffer.from(text);
  })();
  return hook(['claude-code', ...words], { stdin, env });
}

const startGate = (): Promise<TestAgent> => startTestAgent(settings);

/** Resolves with the id of the only waiting call. */
async function heldCall(agent: TestAgent): Promise<string> {
  for (;;) {
    const { body } = await agent.get('/deferrals');
    if (body.total === 1) return body.deferrals[0].task_id;
  }
}

const approve = (agent: TestAgent, id: string) =>
  agent.post(`/holds/${id}/decisions`, { decision: 'approve' });

/** The folder of a gate that is played by this test. */
function folderOf(gate: IllAgent): string {
  const workspace = temporary();
  gate.settle(workspace, 'gate');
  return join(workspace, 'gate');
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-hook-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('a hook with a gate', () => {
  it('permits at once a call without a rule', async () => {
    const { folder } = await startGate();
    expect(await run(ls, ['--dir', folder.path])).toEqual(allowed);
  });

  it('waits for an approval, and reports the end of the call', async () => {
    const agent = await startGate();
    const words = ['--dir', agent.folder.path];
    const waiting = run(event, words);
    const id = await heldCall(agent);
    await approve(agent, id);
    expect(await waiting).toEqual(allowed);
    const ended = { ...event, hook_event_name: 'PostToolUse', tool_response: 'ok' };
    expect(await run(ended, words)).toEqual({ stdout: '', stderr: '', exitCode: 0 });
    expect((await agent.as(agent.token).get(`/holds/${id}`)).body.outcome.status).toBe('succeeded');
  });

  it('denies a rejected call with the reason', async () => {
    const agent = await startGate();
    const waiting = run(event, ['--dir', agent.folder.path]);
    const id = await heldCall(agent);
    await agent.post(`/holds/${id}/decisions`, { decision: 'reject', note: 'no' });
    expect(JSON.parse((await waiting).stdout)).toEqual({
      hookSpecificOutput: {
        ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny' },
        permissionDecisionReason: 'the call may not run: rejected by unknown: no',
      },
    });
  });

  it('cancels the call and denies it on a timeout', async () => {
    const agent = await startGate();
    const { stdout } = await run(event, ['--dir', agent.folder.path, '--wait', '1ms']);
    expect(stdout).toMatch(/the call may not run: the hook waited \d s/);
    expect((await agent.get('/deferrals')).body.total).toBe(0);
  });

  it('asks one question for one call in two concurrent hooks, and two for two', async () => {
    const agent = await startGate();
    const words = ['--dir', agent.folder.path];
    const both = [run(event, words), run(event, words)];
    await approve(agent, await heldCall(agent));
    expect(await Promise.all(both)).toEqual([allowed, allowed]);
    const other = run({ ...event, tool_use_id: 'toolu_02' }, words);
    await approve(agent, await heldCall(agent));
    expect(await other).toEqual(allowed);
  });

  it('asks the same question again after it was killed', async () => {
    const agent = await startGate();
    const words = ['hook', 'claude-code', '--dir', agent.folder.path];
    const input = JSON.stringify(event);
    const first = startCommand(words, { input });
    const id = await heldCall(agent);
    first.child.kill('SIGKILL');
    expect((await first.ended).stdout).toBe('');
    await approve(agent, id);
    expect(await holdpoint(words, { input })).toMatchObject({ code: 0, ...only(allowed) });
  });

  it('keeps its question while the gate restarts', async () => {
    const folder = new AgentFolder(settings);
    onTestFinished(() => folder.remove());
    const before = await startInFolder(folder);
    const waiting = run(event, ['--dir', folder.path]);
    const id = await heldCall(before);
    await before.stop();
    await approve(await startInFolder(folder), id);
    expect(await waiting).toEqual(allowed);
  });

  it('distinguishes equal calls without an id by the length of the transcript', async () => {
    const agent = await startGate();
    const transcript = join(temporary(), 'transcript.jsonl');
    writeFileSync(transcript, 'one');
    const shell = {
      ...{ hook_event_name: 'beforeShellExecution', conversation_id: 'c', command: 'make' },
      transcript_path: transcript,
    };
    const ask = () =>
      hook(['cursor', '--dir', agent.folder.path], {
        stdin: [Buffer.from(JSON.stringify(shell))] as never,
        env: {},
      });
    const first = ask();
    await approve(agent, await heldCall(agent));
    expect((await first).stdout).toBe('{"permission":"allow"}\n');
    expect((await ask()).stdout).toContain('the approval of this call was used before');
    writeFileSync(transcript, 'one and two');
    const second = ask();
    await approve(agent, await heldCall(agent));
    expect((await second).stdout).toBe('{"permission":"allow"}\n');
  });
});

const only = ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ stdout, stderr });

describe('a hook without a decision blocks the call', () => {
  const fault = 'the event on stdin is no JSON object; check the version of the coding agent';

  it.each([
    ['truncated JSON', '{"session_id": "s-1", "tool_na', fault],
    ['nothing', '', fault],
    ['a list', [], fault],
    [
      'an unknown event',
      { hook_event_name: 'Stop' },
      'the hook decides on tool calls only, and not on the event "Stop"; remove it from the settings',
    ],
    [
      'no call id',
      { ...event, tool_use_id: undefined },
      'the event has no tool_use_id; check the version of the coding agent',
    ],
    [
      'arguments that are not an object',
      { ...event, tool_input: 'ls' },
      'tool_input of the event is no object; check the version of the coding agent',
    ],
  ])('for %s, and sends no request', async (_, content, why) => {
    const gate = await IllAgent.open((__, response) => void response.end());
    expect(await run(content, ['--dir', folderOf(gate)])).toEqual(blocked(why));
    expect(gate.asked).toEqual([]);
  });

  it('when the gate was never started or is stopped', async () => {
    const agent = await startGate();
    const { path } = agent.folder;
    const served = readFileSync(join(path, '.service/serve.json'), 'utf8');
    await agent.stop();
    expect(await run(event, ['--dir', path])).toEqual(blocked(`no gate runs in ${path}`));
    writeFileSync(join(path, '.service/serve.json'), served);
    const why = `no gate answers at ${agent.url}; start it with: holdpoint guard`;
    expect(await run(event, ['--dir', path])).toEqual(blocked(why));
  });

  it('when the gate does not answer', async () => {
    const gate = await IllAgent.raw(() => undefined);
    const { stderr, exitCode } = await run(event, ['--dir', folderOf(gate), '--wait', '1ms']);
    expect([stderr, exitCode]).toEqual([
      'Holdpoint blocked the call: the gate did not answer within 11 s\n',
      2,
    ]);
  });

  it('when another program has the port of the gate, and sends it no data', async () => {
    const gate = await IllAgent.open((__, response) => void response.end(allowed.stdout), false);
    const { stderr } = await run(event, ['--dir', folderOf(gate)]);
    expect(stderr).toMatch(/another program listens at \S+ in place of the gate\n$/);
    expect(gate.asked).toEqual([]);
  });

  it('for an invalid token', async () => {
    const agent = await startTestAgent({ ...settings, auth: { required: true } });
    const { stderr } = await run(event, ['--url', agent.url], { SERVICE_TOKEN: 'expired' });
    expect(stderr).toMatch(
      /the gate refused the event with 401: .*; check the token of the gate\n$/,
    );
  });

  it('for an unknown flag or coding agent', async () => {
    expect((await run(event, ['--force'])).exitCode).toBe(2);
    const { stderr, exitCode } = await hook(['vim'], { stdin: [] as never, env: {} });
    expect([stderr, exitCode]).toEqual([
      'Holdpoint blocked the call: name one coding agent: claude-code, codex, cursor, copilot, opencode\n',
      2,
    ]);
  });
});

it('a hook uses the gate of its flag, with any environment', async () => {
  const { folder } = await startGate();
  const evil = await IllAgent.open((__, response) => void response.end(allowed.stdout));
  const env = { SERVICE_GATE_DIR: folderOf(evil), SERVICE_TOKEN: 't' };
  expect(await run(ls, ['--dir', folder.path], env)).toEqual(allowed);
  expect(evil.asked).toEqual([]);
});
