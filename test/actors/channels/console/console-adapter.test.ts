import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ChannelState,
  DeliveryError,
} from '../../../../src/actors/channels/channel-adapter.ts';
import { createConsoleAdapter } from '../../../../src/actors/channels/console/console-adapter.ts';
import type { ApprovalNews } from '../../../../src/machines/channels/approval-notice.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { failureOf } from '../../outbound/egress/an-egress.ts';
import { aNotice, asked, outcomes } from '../webhook/a-notice.ts';

const { signal } = new AbortController();
const target = 'channel:console:*';
const id = '0199aaaa-0000-7000-8000-000000000001';

/** A console, with what it shows, ten seconds after the request. */
function aConsole() {
  const lines: string[] = [];
  const adapter = createConsoleAdapter({
    write: (line) => void lines.push(line),
    agentUrl: () => 'http://127.0.0.1:8080',
    clock: new ManualClock(asked + 10_000),
  });
  return { adapter, lines };
}

describe('the console', () => {
  it('is always connected', async () => {
    const { adapter } = aConsole();
    const heard: ChannelState[] = [];
    adapter.start((state) => void heard.push(state));
    const { name, capabilities, state } = adapter;
    await adapter.stop();
    expect({ name, capabilities, states: [state, adapter.state], heard }).toEqual({
      name: 'console',
      capabilities: { approvals: true, conversations: false },
      states: ['connected', 'closed'],
      heard: ['connected'],
    });
  });

  it('prints each argument that the context omits, and the messages since then', async () => {
    const { adapter, lines } = aConsole();
    const args = { to: 'mallory\u00a0', amount: 40 };
    const messages = [{ from: 'rita@example.com', text: 'stop\nnow' }];
    await adapter.deliver(aNotice({ target, args }), signal);
    await adapter.update({}, aNotice({ target, args, messages }), 'written', signal);
    expect(lines.slice(2, 5)).toEqual([
      '  context    pays back 40 € for order A-1042',
      '  arguments  amount: 40',
      '             to: "mallory[U+00A0]"',
    ]);
    expect(lines.at(-1)).toBe(
      'issue_refund of task task:1 still waiting; new message from rita@example.com: stop\\u000anow',
    );
  });

  it('prints how often the call was requested', async () => {
    const { adapter, lines } = aConsole();
    await adapter.deliver(aNotice({ target, requests: 2 }), signal);
    await adapter.update({}, aNotice({ target, requests: 3 }), 'repeated', signal);
    expect(lines).toContain('  requested  2 times');
    expect(lines.at(-1)).toBe('issue_refund of task task:1 still waits; it was requested 3 times');
  });

  it('prints the requester, the call, the deadline and the commands', async () => {
    const { adapter, lines } = aConsole();
    expect(await adapter.deliver(aNotice({ target, quorum: 2 }), signal)).toEqual({});
    expect(lines).toEqual([
      'issue_refund waits for a release: task task:1 at http://127.0.0.1:8080',
      '  asked by   rita@example.com',
      '  context    pays back 40 € for order A-1042',
      '  approvers  ann@example.com, bob@example.com',
      '  approvals  0 of 2',
      '  auto-deny  2026-03-04T05:11:07.008Z (in 4m50s)',
      '  decide     with one of; name the agent with --dir where several run',
      `             holdpoint task approve --deferral ${id} --email YOUR-EMAIL task:1`,
      `             holdpoint task reject --deferral ${id} --email YOUR-EMAIL --note WHY task:1`,
    ]);
  });

  it('prints no email where anyone may decide, and keeps an id from being read as an option', async () => {
    const { adapter, lines } = aConsole();
    const notice = aNotice({ target, taskId: '--help', approvers: null, requester: null });
    await adapter.deliver(notice, signal);
    expect(lines).toEqual([
      'issue_refund waits for a release: task --help at http://127.0.0.1:8080',
      '  asked by   unknown',
      '  context    pays back 40 € for order A-1042',
      '  auto-deny  2026-03-04T05:11:07.008Z (in 4m50s)',
      '  decide     with one of; name the agent with --dir where several run',
      `             holdpoint task approve --deferral ${id} -- --help`,
      `             holdpoint task reject --deferral ${id} --note WHY -- --help`,
    ]);
  });

  it('names the anonymous operator of this machine', async () => {
    const { adapter, lines } = aConsole();
    const messages = [{ from: null, text: 'it is urgent', at: 1 }];
    const notice = aNotice({ target, requester: null, isOperators: true, messages });
    await adapter.deliver(notice, signal);
    expect(lines.filter((line) => line.includes('operator'))).toEqual([
      '  asked by   the operator of this machine',
      '  written    the operator of this machine: it is urgent',
    ]);
  });

  it('states when no one may decide, and when the time is over', async () => {
    const { adapter, lines } = aConsole();
    await adapter.deliver(aNotice({ target, approvers: [], expiresAt: asked }), signal);
    expect(lines.slice(3, 5)).toEqual([
      '  approvers  nobody',
      '  auto-deny  2026-03-04T05:06:07.008Z (now)',
    ]);
  });

  it.each<[ApprovalNews, Parameters<typeof aNotice>, string[]]>([
    ['reminded', [{ stage: 'reminded' }], ['still waits for a release, auto-deny in 4m50s']],
    [
      'changed',
      [{ stage: 'escalated' }],
      ['still waiting, escalated to others, auto-deny in 4m50s'],
    ],
    ['changed', [{ stage: 'asked' }], []],
    [
      'counted',
      [{ quorum: 2, approvals: [{ approver: 'ann@example.com', at: asked }] }],
      ['was approved by ann@example.com, 1 of 2'],
    ],
    ['ended', [{}, outcomes.approved], ['was approved by ann@example.com: checked']],
    ['ended', [{}, outcomes.rejected], ['was rejected by bob@example.com']],
    ['ended', [{}, outcomes.timedOut], ['was denied: no decision in time']],
    ['ended', [{}, outcomes.canceled], ['was canceled: workflow_failure']],
    ['ended', [{}, outcomes.abandoned], ['was given up, as the agent was restarted']],
    [
      'ended',
      [{}, { ...outcomes.abandoned, reason: 'caller_disconnected' }],
      ['was given up, as its caller went away'],
    ],
  ])('prints in one line that a call was %s: %j', async (news, notice, said) => {
    const { adapter, lines } = aConsole();
    await adapter.update({}, aNotice(...notice), news, signal);
    expect(lines).toEqual(said.map((text) => `issue_refund of task task:1 ${text}`));
  });

  it('prints only the end of a call that it never asked about', async () => {
    const { adapter, lines } = aConsole();
    await adapter.deliver(aNotice({ target }, outcomes.timedOut), signal);
    expect(lines).toEqual(['issue_refund of task task:1 was denied: no decision in time']);
  });

  it('escapes characters that could control a terminal', async () => {
    const { adapter, lines } = aConsole();
    const context = 'a\u001b[2Jb\nholdpoint: approved\u202e\u2028\u{e0041}\ud800';
    await adapter.deliver(aNotice({ target, context }), signal);
    expect(lines[2]).toBe(
      '  context    a\\u001b[2Jb\\u000aholdpoint: approved\\u202e\\u2028\\udb40\\udc41\\ud800',
    );
  });

  it('prints no control character in any line', async () => {
    const text = fc.string({ unit: fc.constantFrom('\n', '\r', '\t', '\u001b', '\u009b', 'a') });
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        const { adapter, lines } = aConsole();
        const notice = aNotice({ tool: one, context: other, requester: one, approvers: [other] });
        await adapter.deliver(notice, signal);
        const rejected = { ...outcomes.rejected, approver: one, note: other };
        await adapter.update({}, aNotice({}, rejected), 'ended', signal);
        const canceled = { ...outcomes.canceled, reason: one };
        await adapter.update({}, aNotice({}, canceled), 'ended', signal);
        expect(lines.filter((line) => /\p{Cc}/u.test(line))).toEqual([]);
      }),
    );
  });

  it('is retried when it cannot be written to', async () => {
    const cause = new Error('write EIO');
    const adapter = createConsoleAdapter({
      write: () => {
        throw cause;
      },
      agentUrl: () => 'http://127.0.0.1:8080',
      clock: new ManualClock(asked),
    });
    expect(await failureOf(adapter.deliver(aNotice({ target }), signal))).toEqual(
      new DeliveryError('the console cannot be written to; retrying', {
        fault: 'later',
        cause,
      }),
    );
  });
});
