import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Output } from '../../../src/cli/output.ts';
import {
  answerOf,
  decisionLines,
  deferralLines,
  timeLeft,
} from '../../../src/cli/task/print-task.ts';
import type { DeferralJson } from '../../../src/cli/task/read-answer.ts';

const now = Date.parse('2026-07-01T09:00:00.000Z');

function at(milliseconds: number): string {
  return new Date(now + milliseconds).toISOString();
}

describe('timeLeft', () => {
  it.each([
    [0, 'now'],
    [-5_000, 'now'],
    [1, 'in 1s'],
    [59_001, 'in 1m00s'],
    [299_000, 'in 4m59s'],
    [3_600_000, 'in 1h00m'],
    [90_061_000, 'in 1d01h'],
  ])('shows for %d ms: %s', (milliseconds, words) => {
    expect(timeLeft(at(milliseconds), now)).toBe(words);
  });

  it('shows nothing for an invalid time', () => {
    expect(timeLeft('soon', now)).toBe('now');
  });
});

describe('deferralLines', () => {
  const deferral: DeferralJson = {
    id: 'd-1',
    task_id: 't-1',
    tool: 'issue_refund',
    to: 'channel:console:*',
    context: 'pay\nback \u001b[2J',
    args: { order_id: 'A-1042' },
    args_sha256: '0'.repeat(64),
    requester: null,
    requested_at: at(0),
    expires_at: at(65_000),
    approvers: null,
    quorum: 1,
    approvals: [],
  };

  it('shows an approver the whole call, each part on one line', () => {
    expect(deferralLines(deferral, now)).toEqual([
      '  tool       issue_refund',
      '  arguments  {"order_id":"A-1042"}',
      '  context    pay\\u000aback \\u001b[2J',
      '  asked by   unknown',
      '  goes to    channel:console:*',
      '  auto-deny  2026-07-01T09:01:05.000Z (in 1m05s)',
    ]);
  });

  it('names the approvers and counts their approvals', () => {
    const approvers = ['ann@example.com', 'bob@example.com'];
    const approvals = [{ approver: 'ann@example.com' }];
    const requester = { user_id: 'u-1', email: 'eve@example.com' };
    const lines = deferralLines({ ...deferral, approvers, quorum: 2, approvals, requester }, now);
    expect(lines).toContain('  approvers  ann@example.com, bob@example.com');
    expect(lines).toContain('  approvals  1 of 2');
    expect(lines).toContain('  asked by   eve@example.com');
    const operator = { user_id: 'runtime', email: null, provider: 'runtime' };
    expect(deferralLines({ ...deferral, requester: operator }, now)).toContain(
      '  asked by   the operator of this machine',
    );
    expect(deferralLines({ ...deferral, approvers: [] }, now)).toContain('  approvers  nobody');
  });

  it('names the escalation target', () => {
    const lines = deferralLines({ ...deferral, escalated_to: 'channel:dashboard:duty' }, now);
    expect(lines.slice(4, 6)).toEqual([
      '  goes to    channel:console:*',
      '  also to    channel:dashboard:duty',
    ]);
  });
});

describe('decisionLines', () => {
  const silent = new PassThrough();
  const settings = { stdout: silent, stderr: silent, isJson: false, isDebug: false };
  const plain = new Output({ ...settings, env: {}, mayColour: false });
  const coloured = new Output({ ...settings, env: { FORCE_COLOR: '1' }, mayColour: true });
  const lookup = { call_id: 'c-1', tool: 'lookup' };
  const refund = { call_id: 'c-2', tool: 'issue_refund' };

  it('names the tool where a call begins and aligns the columns', () => {
    expect(
      decisionLines(plain, [
        {
          ...lookup,
          layer: 'intent_alignment',
          decision: 'allow',
          reason: 'fits',
          duration_ms: 12.345,
        },
        {
          ...lookup,
          layer: 'step_up',
          decision: 'allow',
          reason: 'acr\nis \u001b[2Jgood',
          duration_ms: 0.04,
        },
        {
          ...refund,
          layer: 'intent_alignment',
          decision: 'deny',
          reason: 'unknown',
          duration_ms: 100,
        },
      ]),
    ).toEqual([
      '  lookup        intent_alignment  allow         12.3 ms  fits',
      '                step_up           allow          0.0 ms  acr\\u000ais \\u001b[2Jgood',
      '  issue_refund  intent_alignment  deny         100.0 ms  unknown',
    ]);
  });

  it('has no column for the tool when no call is named', () => {
    const prompt = { layer: 'prompt', decision: 'deny', reason: 'no', duration_ms: 1 };
    const output = { layer: 'output', decision: 'not_reached', reason: null, duration_ms: null };
    expect(decisionLines(plain, [prompt, output])).toEqual([
      '  prompt  deny           1.0 ms  no',
      '  output  not reached',
    ]);
    expect(decisionLines(plain, [])).toEqual([]);
  });

  it.each([
    ['allow', '\u001b[32mallow      \u001b[39m'],
    ['deny', '\u001b[31mdeny       \u001b[39m'],
    ['modify', '\u001b[33mmodify     \u001b[39m'],
    ['step_up', '\u001b[33mstep_up    \u001b[39m'],
    ['defer', '\u001b[33mdefer      \u001b[39m'],
    ['not_asked', '\u001b[2mnot asked  \u001b[22m'],
  ])('paints %s', (decision, painted) => {
    const row = { layer: 'output', decision, reason: 'x', duration_ms: 1 };
    expect(decisionLines(coloured, [row])).toEqual([`  output  ${painted}    1.0 ms  x`]);
  });
});

describe('answerOf', () => {
  it('shows text parts as they are and others as JSON', () => {
    const parts = [
      { kind: 'text', text: 'done' },
      { kind: 'data', data: { total: 3 } },
    ];
    const status = { state: 'completed', timestamp: at(0) };
    expect(answerOf({ id: 't-1', status, artifacts: [{ parts }] })).toBe(
      'done\n{"kind":"data","data":{"total":3}}',
    );
  });
});
