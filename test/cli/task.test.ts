import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdpointHere } from './command-here.ts';
import {
  cleanUp,
  type Daemon,
  holdpoint,
  refundAgent,
  shellCommand,
  startCommand,
  startDaemon,
  startProcess,
  temporaryFolder,
  untilHeld,
} from './holdpoint.ts';

const service = `agent_id: refunds
model: {provider: scripted, name: demo}
builtin_tools: [datetime_now]
egress: {writable: [data]}
auth:
  required: true
  providers: [{type: static_token, name: ops, settings: {token: ops-secret}}]
security:
  defer:
    enabled: true
    tools:
      issue_refund: {to: "channel:console:*", timeout: 5m, edit: true}
      datetime_now: {to: "channel:console:*", timeout: 5m, approvers: [ann@example.com]}
`;

const held = [
  '--script',
  '[{"tool": "issue_refund", "args": {"order_id": "A-1001"}}, {"say": "paid"}]',
];
const listed = ['--script', '[{"tool": "datetime_now"}, {"say": "told"}]'];

let daemon: Daemon;

beforeAll(async () => {
  daemon = await startDaemon(await refundAgent(service));
});

afterAll(async () => {
  const { stderr } = await daemon.stop();
  expect(stderr).not.toContain('ops-secret');
  await cleanUp();
});

function task(args: readonly string[], input?: string) {
  return holdpointHere(
    ['task', ...args, '--dir', daemon.directory],
    input === undefined ? {} : { input },
  );
}

describe.concurrent('task send', () => {
  it('prints the answer', async () => {
    expect(await task(['send', 'hello', 'there'])).toEqual({
      code: 0,
      signal: null,
      stdout: 'echo: hello there\n',
      stderr: '',
    });
  });

  it('prints the task as one JSON document', async () => {
    const { code, stdout } = await task(['send', 'hello', '--id', 'json-1', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'json-1',
      kind: 'task',
      status: { state: 'completed' },
      artifacts: [{ name: 'response', parts: [{ kind: 'text', text: 'echo: hello' }] }],
    });
  });

  it('reads the text from stdin and sends data', async () => {
    const { stdout } = await task(['send', '-', '--data', '{"order": 7}'], 'from a pipe');
    expect(stdout).toBe('echo: from a pipe\n{"order":7}\n');
  });

  it('escapes control characters of an answer', async () => {
    const { stdout } = await task(['send', 'red \u001b[31m\u202e']);
    expect(stdout).toBe('echo: red \\u001b[31m\\u202e\n');
  });

  it('exits with 2 for an empty message, and for an invalid id', async () => {
    const [empty, badId] = await Promise.all([task(['send']), task(['send', 'x', '--id', 'a b'])]);
    expect(empty).toMatchObject({
      code: 2,
      stderr: 'error: the message is empty; give a message, --data or --script\n',
    });
    expect(badId).toMatchObject({ code: 2, stdout: '' });
    expect(badId.stderr).toContain('task.id must be 1 to 128 characters');
  });

  it('exits with 1 when the task fails, with the task in the document', async () => {
    const script = ['--script', '[{"tool": "lookup_order", "args": {"order_id": "A-9999"}}]'];
    const [plain, json] = await Promise.all([
      task(['send', '--id', 'bad-1', ...script]),
      task(['send', '--id', 'bad-2', '--json', ...script]),
    ]);
    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr).toMatch(/^error: task bad-1 failed: .*there is no order A-9999.*\n$/);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      task: { id: 'bad-2', status: { state: 'failed' } },
      error: { code: 'task_failed', hint: null },
    });
  });

  it('streams the events with --stream', async () => {
    const script = [
      '--script',
      '[{"tool": "lookup_order", "args": {"order_id": "A-1001"}}, {"say": "seen"}]',
    ];
    const [plain, json] = await Promise.all([
      task(['send', '--stream', ...script]),
      task(['send', '--stream', '--json', '--id', 'stream-1', ...script]),
    ]);
    expect(plain).toMatchObject({ code: 0, stdout: 'seen\n' });
    expect(plain.stderr).toMatch(/ {2}lookup_order starts\n {2}lookup_order ends\n/);
    const events = linesOf(json.stdout).map((line) => JSON.parse(line) as { event: string });
    expect(new Set(events.map(({ event }) => event))).toEqual(
      new Set(['status', 'progress', 'result']),
    );
    expect(events.at(-1)).toMatchObject({
      event: 'result',
      data: { id: 'stream-1', status: { state: 'completed' } },
    });
  });

  it('exits with 7 on a timeout', async () => {
    const { code, stdout, stderr } = await task(['send', ...held, '--timeout', '300ms']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toBe('error: no answer within 0.3 s; allow more with --timeout\n');
  });

  it('exits with 130 when interrupted, and does not change the task', async () => {
    const args = ['task', 'send', ...held, '--id', 'int-1', '--json', '--dir', daemon.directory];
    const sending = startCommand(args);
    await untilHeld(daemon, 'int-1');
    sending.child.kill('SIGINT');
    const { code, signal, stdout } = await sending.ended;
    expect({ code, signal }).toEqual({ code: 130, signal: null });
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'interrupted', message: 'interrupted', hint: null },
    });
    expect(JSON.parse((await task(['get', 'int-1', '--json'])).stdout)).toMatchObject({
      status: { state: 'deferred' },
    });
  });
});

describe.concurrent('a held task', () => {
  it('is shown, listed, approved once, and answered', async () => {
    const sending = task(['send', ...held, '--id', 'held-1']);
    await untilHeld(daemon, 'held-1');
    const [shown, waiting] = await Promise.all([task(['get', 'held-1']), task(['deferrals'])]);
    expect(shown.stdout).toMatch(
      /^held-1 {2}deferred {3}\S+Z\nDeferred: awaiting channel:console:\* decision on issue_refund\n {2}issue_refund {2}intent_alignment {2}allow .+ no rule denies it\n(?: {16}\w+ .+\n){2} {16}defer {13}defer .+ awaiting channel:console:\*\n {2}tool {7}issue_refund\n {2}arguments {2}\{"order_id":"A-1001"\}\n/,
    );
    expect(shown.stderr).toBe(
      `decide with: holdpoint task approve held-1 --dir ${daemon.directory}, or reject\n`,
    );
    expect(waiting.stdout).toContain('task held-1\n');
    const states = await task(['get', 'held-1', '--states']);
    expect(states.stdout).toMatch(/^ {2}\S+Z {2}deferred\.asked +\S.* so far {2}governing\.done$/m);
    const { metadata } = JSON.parse((await task(['get', 'held-1', '--states', '--json'])).stdout);
    expect(metadata.statechart.value).toBe('deferred.asked');

    const approved = await task(['approve', 'held-1', '--approver', 'ann']);
    expect(approved).toMatchObject({ code: 0, stdout: 'task held-1: approved by ann\n' });
    expect(await sending).toMatchObject({ code: 0, stdout: 'paid\n' });

    const again = await task(['reject', 'held-1', '--json']);
    expect(again.code).toBe(1);
    expect(JSON.parse(again.stdout)).toMatchObject({
      status: 409,
      error: {
        code: 'conflict',
        message: expect.stringMatching(/^deferral already decided: approve by ann at /),
      },
    });
  });

  it('is listed oldest first', async () => {
    const sends = [];
    for (const id of ['order-1', 'order-2', 'order-3']) {
      sends.push(task(['send', ...held, '--id', id]));
      await untilHeld(daemon, id);
    }
    const { stdout } = await task(['deferrals', '--json']);
    const { deferrals } = JSON.parse(stdout) as { deferrals: { task_id: string; args: object }[] };
    const ours = deferrals.filter(({ task_id }) => task_id.startsWith('order-'));
    expect(ours.map(({ task_id }) => task_id)).toEqual(['order-1', 'order-2', 'order-3']);
    expect(ours[0]?.args).toEqual({ order_id: 'A-1001' });
    for (const id of ['order-1', 'order-2', 'order-3']) await task(['cancel', id]);
    expect((await Promise.all(sends)).map(({ code }) => code)).toEqual([1, 1, 1]);
  });

  it('is rejected with a note, which the sender receives', async () => {
    const sending = task(['send', ...held, '--id', 'held-2']);
    await untilHeld(daemon, 'held-2');
    await task(['reject', 'held-2', '--approver', 'bob', '--note', 'too late']);
    expect(await sending).toMatchObject({
      code: 1,
      stderr: 'error: task held-2 failed: defer: rejected by bob: too late\n',
    });
  });

  it('follows the allowlist and the pinned arguments', async () => {
    const sending = task(['send', ...listed, '--id', 'held-3']);
    const { metadata } = await untilHeld(daemon, 'held-3');
    const hash = metadata?.deferral?.['args_sha256'] as string;
    expect(await task(['approve', 'held-3', '--email', 'eve@example.com'])).toMatchObject({
      code: 4,
      stderr:
        'error: approver not authorized; name an allowed approver with --email, or show a token of your own with --token-file\n',
    });
    const email = ['--email', 'ann@example.com'];
    const [otherArgs, otherDeferral] = await Promise.all([
      task(['approve', 'held-3', ...email, '--args-sha256', '0'.repeat(64)]),
      task(['approve', 'held-3', ...email, '--deferral', 'another']),
    ]);
    expect([otherArgs.code, otherDeferral.code]).toEqual([1, 1]);
    const decided = await task(['approve', 'held-3', ...email, '--args-sha256', hash, '--json']);
    expect(JSON.parse(decided.stdout)).toMatchObject({
      task_id: 'held-3',
      decision: 'approve',
      approver: 'ann@example.com',
      status: 'resolved',
    });
    expect((await sending).stdout).toBe('told\n');
  });

  it('is approved with other arguments, from the command line or a file', async () => {
    const file = join(await temporaryFolder(), 'args.json');
    await writeFile(file, '{"order_id": "A-1003"}');
    for (const [id, args] of [
      ['edited-1', '{"order_id": "A-1003"}'],
      ['edited-2', file],
    ] as const) {
      const sending = task(['send', ...held, '--id', id]);
      await untilHeld(daemon, id);
      for (const [wrong, why] of [
        ['{"order_id": "A-1003"', 'they are not valid JSON'],
        ['{"a": 1, "a": 2}', 'a key is repeated in one object; send each key once'],
        ['{"a": 9007199254740993}', 'the number 9007199254740993 cannot be read without changing'],
      ] as const) {
        const { code, stderr } = await task(['approve', id, '--args', wrong]);
        expect([code, stderr]).toEqual([
          2,
          expect.stringContaining(`--args cannot be read: ${why}`),
        ]);
      }
      expect(await task(['approve', id, '--approver', 'bob', '--args', args])).toMatchObject({
        stdout: `task ${id}: approved by bob with changed arguments\n`,
      });
      await sending;
      const { stdout } = await task(['get', id, '--json']);
      expect(JSON.parse(stdout).metadata.edits).toMatchObject([
        { approver: 'bob', changes: [{ path: 'order_id', before: '"A-1001"', after: '"A-1003"' }] },
      ]);
    }
  });

  it('is canceled with a reason', async () => {
    const sending = task(['send', ...held, '--id', 'held-4']);
    await untilHeld(daemon, 'held-4');
    const canceled = await task(['cancel', 'held-4', '--reason', 'changed my mind']);
    expect(canceled).toMatchObject({
      code: 0,
      stdout: 'task held-4: canceled: changed my mind\n',
    });
    expect(await sending).toMatchObject({
      code: 1,
      stderr: 'error: task held-4 was canceled: canceled: changed my mind\n',
    });
  });

  it('is watched until its end', async () => {
    const sending = task(['send', ...held, '--id', 'held-5']);
    await untilHeld(daemon, 'held-5');
    const watching = startCommand(['task', 'watch', 'held-5', '--dir', daemon.directory]);
    const streaming = startCommand([
      'task',
      'watch',
      'held-5',
      '--json',
      '--dir',
      daemon.directory,
    ]);
    await Promise.all([firstChunk(watching), firstChunk(streaming)]);
    await task(['reject', 'held-5', '--approver', 'bob']);
    const [plain, json] = await Promise.all([watching.ended, streaming.ended, sending]);
    expect(plain.code).toBe(1);
    expect(linesOf(plain.stdout).map((line) => line.split(/\s{2,}/)[1])).toEqual([
      'deferred',
      'failed',
    ]);
    expect(json.code).toBe(1);
    const documents = linesOf(json.stdout).map((line) => JSON.parse(line) as object);
    expect(documents.at(-2)).toMatchObject({ event: 'result' });
    expect(documents.at(-1)).toMatchObject({ error: { code: 'task_failed' } });
  });
});

describe('task list', () => {
  it('lists by state and continues with a cursor', async () => {
    for (const id of ['list-1', 'list-2']) await task(['send', 'x', '--id', id]);
    const first = await task(['list', '--state', 'completed', '--limit', '1', '--json']);
    const page = JSON.parse(first.stdout) as { tasks: { id: string }[]; next_cursor: string };
    expect(page.tasks.map(({ id }) => id)).toEqual(['list-2']);
    const second = await task([
      'list',
      '--state',
      'completed',
      '--limit',
      '1',
      '--cursor',
      page.next_cursor,
    ]);
    expect(second.stdout).toMatch(/^list-1 {2}completed {2}\S+Z {2}echo: x\n$/);
  });

  it('exits with 2 for an unknown state', async () => {
    const { code, stderr } = await task(['list', '--state', 'lost']);
    expect(code).toBe(2);
    expect(stderr).toContain('state must be one of submitted, working, deferred');
  });

  it('is not shown to a viewer of other agents while the inspector is off', async () => {
    await task(['send', 'hi', '--id', 'shown-1']);
    const { code, stdout, stderr } = await task(['inspect', 'shown-1']);
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: 'error: the inspector of this agent is off; start the agent with --inspect\n',
    });
  });

  it('exits silently when its reader exits', async () => {
    const list = shellCommand(['task', 'list', '--dir', daemon.directory]);
    const { stderr } = await startProcess('sh', ['-c', `${list} | true`]).ended;
    expect(stderr).toBe('');
  });
});

describe.concurrent('a client command', () => {
  it('exits with 3 for an unknown task', async () => {
    const calls = [['get'], ['watch'], ['cancel'], ['approve'], ['reject']];
    const ended = await Promise.all(calls.map(([verb = '']) => task([verb, 'nobody'])));
    expect(ended.map(({ code }) => code)).toEqual([3, 3, 3, 3, 3]);
    expect(ended[0]?.stderr).toBe(
      `error: task not found; see what there is with: holdpoint task list --dir ${daemon.directory}\n`,
    );
  });

  it('exits with 3 and explains the start when no agent runs', async () => {
    const dir = await temporaryFolder();
    const [byFolder, byAddress] = await Promise.all([
      holdpoint(['task', 'list', '--dir', dir, '--json']),
      holdpoint(['task', 'list', '--url', 'http://127.0.0.1:9']),
    ]);
    expect(byFolder.code).toBe(3);
    expect(JSON.parse(byFolder.stdout)).toEqual({
      error: {
        code: 'not_running',
        message: `no agent runs in ${dir}`,
        hint: `start it with: holdpoint run --dir ${dir}`,
      },
    });
    expect(byAddress).toMatchObject({
      code: 3,
      stderr:
        'error: no agent answers at http://127.0.0.1:9; check the address, or start the agent\n',
    });
  });

  it('exits with 4 without a token or with a wrong one, and takes it from a file or SERVICE_TOKEN', async () => {
    const list = ['task', 'list', '--url', daemon.url];
    const file = join(await temporaryFolder(), 'token');
    await writeFile(file, 'ops-secret\n');
    const ended = await Promise.all([
      holdpoint(list),
      holdpoint(list, { env: { SERVICE_TOKEN: 'wrong' } }),
      holdpoint([...list, '--token-file', '/nowhere/token']),
      holdpoint(list, { env: { SERVICE_TOKEN: 'ops-secret' } }),
      holdpoint([...list, '--token-file', file], { env: { SERVICE_TOKEN: 'wrong' } }),
    ]);
    expect(ended.map(({ code }) => code)).toEqual([4, 4, 4, 0, 0]);
    expect(ended[1]?.stderr).toMatch(/^error: unauthorized: .+; give a token with --token-file/);
    for (const { stderr } of ended) expect(stderr).not.toMatch(/wrong|ops-secret/);
  });

  it('exits with 1 when the daemon exits, and explains how to read the task later', async () => {
    const other = await startDaemon(await refundAgent(service));
    const send = startCommand(['task', 'send', ...held, '--id', 'cut-1', '--dir', other.directory]);
    await untilHeld(other, 'cut-1');
    other.child.kill('SIGKILL');
    await other.ended;
    const { code, stdout, stderr } = await send.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `error: the connection to ${other.url} broke before the answer came; look at the task later with: holdpoint task get cut-1 --dir ${other.directory}; if the agent has ended, first start it with: holdpoint run --dir ${other.directory}\n`,
    );
    const later = await holdpoint(['task', 'get', 'cut-1', '--dir', other.directory]);
    expect(later.code).toBe(3);
    expect(later.stderr).toContain(`no agent runs in ${other.directory}`);
  });

  it('reconnects to a task after the daemon was restarted elsewhere', async () => {
    const directory = await refundAgent(
      service.replace('    enabled: true', '    enabled: true\n    on_restart: resume'),
    );
    const first = await startDaemon(directory);
    const send = startCommand(['task', 'send', ...held, '--id', 'move-1', '--dir', directory]);
    await untilHeld(first, 'move-1');
    const watching = startCommand(['task', 'watch', 'move-1', '--dir', directory]);
    await firstChunk(watching);
    first.child.kill('SIGKILL');
    await Promise.all([first.ended, send.ended]);
    const second = await startDaemon(directory);
    await holdpoint(['task', 'approve', 'move-1', '--dir', directory]);
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(linesOf(stdout).at(-1)).toBe('paid');
    await second.stop();
  });
});

function linesOf(text: string): string[] {
  return text.trimEnd().split('\n');
}

/** Returns once a command has printed something. */
function firstChunk({ child, ended }: ReturnType<typeof startCommand>): Promise<unknown> {
  return Promise.race([new Promise((resolve) => child.stdout?.once('data', resolve)), ended]);
}
