import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdpointHere } from './command-here.ts';
import { cleanUp, temporaryFolder } from './holdpoint.ts';

afterAll(cleanUp);

const at = (minute: number) => `2026-11-24T10:${String(minute).padStart(2, '0')}:00.000Z`;

const line = (minute: number, task: string, event: string, fields: object) =>
  JSON.stringify({ ts: at(minute), event, entity_id: 'refunds', task_id: task, fields });

const call = { call_id: 'c-1', args_sha256: 'a'.repeat(64), runs_sha256: 'b'.repeat(64) };
const ruled = {
  ...call,
  tool: 'issue_refund',
  decision: 'defer',
  rule: 'defer.tools.issue_refund',
};
const held = { ...call, args: { amount: 149.9 }, context: 'Refund' };
const asked = [
  line(1, 't-1', 'session_start', { user_id: 'u-7', email: 'rita@example.com', org_id: 'shop' }),
  line(2, 't-1', 'call_ruled', { ...ruled, policy_sha256: 'c'.repeat(64) }),
  line(2, 't-1', 'task_deferred', held),
];
const eve = { decision: 'approve', approver: 'eve@example.com', authorized: false };
const ann = { decision: 'approve', approver: 'ann@example.com', as: ['group:finance'] };
const task = [
  ...asked,
  line(3, 't-1', 'task_deferred_decision', { ...call, ...eve, method: 'token' }),
  line(5, 't-1', 'task_deferred_decision', { ...call, ...ann, method: 'oidc', wait_ms: 180_000 }),
  line(6, 't-1', 'tool_exec', { ...call, phase: 'start', args: { amount: 149.9 } }),
  line(7, 't-1', 'tool_exec', { ...call, phase: 'end', outcome: 'succeeded' }),
];
const hold = { call_id: 'c-2', tool: 'Bash', args_sha256: 'd'.repeat(64) };
const holds = [
  line(8, 'h-1', 'session_start', { key: 'k', user_id: 'dev' }),
  line(8, 'h-1', 'call_ruled', { ...hold, decision: 'defer', rule: 'defer.tools.Bash' }),
  line(8, 'h-1', 'hold_deferred', { ...hold, args: { command: 'rm -rf build' } }),
  line(9, 'h-1', 'hold_deferred_decision', {
    ...{ ...hold, decision: 'reject', approver: 'bob@example.com', note: '=1+1' },
    ...{ method: 'chat', wait_ms: 60_000 },
  }),
  line(10, 'h-2', 'session_start', { key: 'k2', user_id: 'dev' }),
  line(10, 'h-2', 'hold_deferred', { ...hold, call_id: 'c-3' }),
  line(20, 'h-2', 'hold_deferred_timeout', { ...hold, call_id: 'c-3', wait_ms: 600_000 }),
];

async function logOf(lines: readonly string[]): Promise<string> {
  const path = join(await temporaryFolder(), 'audit.ndjson');
  await writeFile(path, `${lines.join('\n')}\nnot a line of a log\n`);
  return path;
}

describe.concurrent('audit decisions', () => {
  it('lists decisions of tasks and holds, and waits that ended without one, with their outcome', async () => {
    const file = await logOf([...task, ...holds]);
    const { code, stdout, stderr } = await holdpointHere(['audit', 'decisions', '--file', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      `${at(3)}  issue_refund {"amount":149.9}  not allowed to decide by eve@example.com (token), requested by rita@example.com, succeeded  t-1`,
      `${at(5)}  issue_refund {"amount":149.9}  approved by ann@example.com (oidc), requested by rita@example.com, succeeded  t-1`,
      `${at(9)}  Bash {"command":"rm -rf build"}  rejected by bob@example.com (chat), "=1+1", requested by dev, not run  h-1`,
      `${at(20)}  Bash args_sha256 dddddddddddddddd  timed out, requested by dev, not run  h-2`,
      '',
    ]);
  });

  it('reads the whole call of a decision in the range, and filters by person and tool', async () => {
    const file = await logOf([...task, ...holds]);
    const ofRange = ['audit', 'decisions', '--file', file, '--from', at(4), '--to', at(5)];
    const { stdout } = await holdpointHere([...ofRange, '--json']);
    expect(JSON.parse(stdout)).toEqual({
      ...{ at: at(5), decision: 'approve', agent: 'refunds', tool: 'issue_refund' },
      ...{ args: { amount: 149.9 }, approver: 'ann@example.com', as: ['group:finance'] },
      ...{ method: 'oidc', requester: 'rita@example.com', org_id: 'shop' },
      ...{ rule: 'defer.tools.issue_refund', waited_ms: 180_000, outcome: 'succeeded' },
      ...{ ended_at: at(7), task_id: 't-1', ...call, policy_sha256: 'c'.repeat(64) },
    });
    const found = await Promise.all(
      [
        ['--person', 'rita@example.com'],
        ['--tool', 'Bash'],
        ['--task', 'h-2'],
      ].map((filter) => holdpointHere(['audit', 'decisions', '--file', file, ...filter, '--json'])),
    );
    expect(found.map((one) => one.stdout.split('\n').length - 1)).toEqual([2, 2, 1]);
  });

  it('writes a table for a spreadsheet that runs no formula of a caller', async () => {
    const file = await logOf(holds);
    const target = join(await temporaryFolder(), 'week.csv');
    const command = ['audit', 'decisions', '--file', file, '-o', target];
    expect((await holdpointHere(command)).stdout).toBe(`2 decisions written to ${target}\n`);
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    const columns =
      'at,decision,agent,tool,args,approver,for,as,method,vouched_by,note,requester,org_id,rule,waited_ms,outcome,ended_at,error,task_id,call_id,args_sha256,runs_sha256,edited_args_sha256,policy_sha256';
    const digest = 'd'.repeat(64);
    expect((await readFile(target, 'utf8')).split('\r\n')).toEqual([
      columns,
      `${at(9)},reject,refunds,Bash,"{""command"":""rm -rf build""}",bob@example.com,,,chat,,'=1+1,dev,,defer.tools.Bash,60000,not_run,,,h-1,c-2,${digest},,,`,
      `${at(20)},timed_out,refunds,Bash,,,,,,,,dev,,,600000,not_run,,,h-2,c-3,${digest},,,`,
      '',
    ]);
  });

  it('quotes names and reasons that imitate the rest of a line', async () => {
    const fields = { ...hold, decision: 'reject', note: 'no", requested by ceo@example.com' };
    const approver = 'eve@example.com, succeeded';
    const file = await logOf([
      line(1, 'h-1', 'session_start', { user_id: 'a"b' }),
      line(1, 'h-1', 'hold_deferred', { ...hold, args: {} }),
      line(2, 'h-1', 'hold_deferred_decision', { ...fields, approver }),
    ]);
    const { stdout } = await holdpointHere(['audit', 'decisions', '--file', file]);
    expect(stdout).toBe(
      String.raw`${at(2)}  Bash {}  rejected by "eve@example.com, succeeded", "no\", requested by ceo@example.com", requested by "a\"b", not run  h-1` +
        '\n',
    );
  });

  it('states a call that still runs, and that nothing matches', async () => {
    const file = await logOf(task.slice(0, -1));
    const command = ['audit', 'decisions', '--file', file];
    const running = await holdpointHere([...command, '--from', at(4), '--json']);
    expect(JSON.parse(running.stdout)).toMatchObject({ outcome: 'under_way' });
    const none = await holdpointHere([...command, '--person', 'nobody@example.com']);
    expect(none).toEqual({
      ...{ code: 0, signal: null, stdout: '' },
      stderr: 'no decision matches; name another range, or another log with --dir or --file\n',
    });
  });
});
