import { describe, expect, it, vi } from 'vitest';
import { fakeUser } from '../../../../packages/fake-slack/workspace/people.ts';
import type { DeliveryError, KeptNotice } from '../../../../src/actors/channels/channel-adapter.ts';
import type { DecisionAttempt } from '../../../../src/machines/governance/approvers.ts';
import { patient } from '../../../helpers/patient.ts';
import { aNotice, endings } from './slack-notices.ts';
import { openSlackRig } from './slack-rig.ts';

const never = new AbortController().signal;

describe('the Slack adapter', () => {
  it('connects, and reads its own identity', async () => {
    const { slack, adapter, states, connect } = await openSlackRig();
    await connect();
    const { appId, teamId, botUserId, botId } = slack.workspace;
    expect({ states, self: adapter.self, state: adapter.state }).toEqual({
      states: ['connecting', 'connected'],
      self: { appId, teamId, botUserId, botId, scopes: adapter.self?.scopes },
      state: 'connected',
    });
    expect(adapter.self?.scopes).toContain('chat:write');
  });

  it('posts a notice in the channel of its target, in the scope of its task', async () => {
    const { slack, adapter, hops, connect } = await openSlackRig();
    await connect();
    hops.length = 0;
    const notice = aNotice();
    const ref = await adapter.deliver(notice, never);
    const [message, ...others] = slack.messages('refunds');
    const call = slack.calls.find(({ method }) => method === 'chat.postMessage');
    expect({ ref, others, metadata: message?.metadata, args: call?.args }).toEqual({
      ref: { channel: 'C0REFUNDS1', ts: message?.ts },
      others: [],
      metadata: {
        event_type: 'holdpoint_approval',
        event_payload: { deferral_id: notice.request.deferralId },
      },
      args: expect.objectContaining({ unfurl_links: false, unfurl_media: false }),
    });
    expect(hops.map(({ scope, reason }) => ({ task: scope?.taskId, reason }))).toEqual([
      { task: 'task-1', reason: null },
      { task: 'task-1', reason: null },
    ]);
  });

  it('removes the buttons when the wait is over', async () => {
    const { slack, adapter, connect } = await openSlackRig();
    await connect();
    const ref = await adapter.deliver(aNotice(), never);
    const kinds = () =>
      slack.messages('refunds').map(({ blocks }) => blocks?.map(({ type }) => type));
    const before = kinds();
    await adapter.update(ref, aNotice({}, endings.approved), 'ended', never);
    expect({
      before: before.flat().includes('actions'),
      after: kinds().flat().includes('actions'),
    }).toEqual({
      before: true,
      after: false,
    });
  });

  it('reminds in the thread of the message, so that it notifies', async () => {
    const { slack, adapter, connect } = await openSlackRig();
    await connect();
    const ref = await adapter.deliver(aNotice(), never);
    await adapter.update(ref, aNotice({ stage: 'reminded' }), 'reminded', never);
    const [message, reminder] = slack.messages('refunds');
    expect({ thread: reminder?.threadTs, edits: message?.edits, text: reminder?.text }).toEqual({
      thread: message?.ts,
      edits: 1,
      text: 'Half of the time is over, and a decision is still missing. Without one the call is denied <!date^1782896700^{date_short_pretty} at {time}|2026-07-01 09:05 UTC>.',
    });
  });

  it('decides for the person that Slack names, while its link is renewed', async () => {
    const kept: KeptNotice[] = [];
    const attempted = Promise.withResolvers<[string, DecisionAttempt]>();
    const { slack, adapter, clock, told, connect } = await openSlackRig({
      approvals: {
        find: async () => kept,
        decide: async (taskId, attempt) => {
          attempted.resolve([taskId, attempt]);
          const { approver, verb: decision } = attempt;
          return {
            kind: 'resolved',
            deferralId: aNotice().request.deferralId,
            approver: approver ?? '',
            decision,
          };
        },
      },
    });
    await connect();
    kept.push({ notice: aNotice(), ref: await adapter.deliver(aNotice(), never) });
    clock.advance(60_000);
    const renewed = told('connected');
    slack.socket.retire('warning');
    const click = await slack.click({
      channel: 'refunds',
      action: 'holdpoint_approve',
      user: 'bob',
    });
    const [taskId, { verb, email, deferralId, argsSha256, source }] = await attempted.promise;
    await renewed;
    expect({ taskId, verb, email, deferralId, argsSha256, source, sent: click.deliveries }).toEqual(
      {
        taskId: 'task-1',
        verb: 'approve',
        email: 'bob@example.com',
        deferralId: aNotice().request.deferralId,
        argsSha256: aNotice().request.argsSha256,
        source: 'slack',
        sent: 1,
      },
    );
  });

  it('asks for a reason at once, however many other requests Slack leaves open', async () => {
    const kept: KeptNotice[] = [];
    const { slack, adapter, clock, connect } = await openSlackRig({
      approvals: { find: async () => kept },
    });
    await connect();
    kept.push({ notice: aNotice(), ref: await adapter.deliver(aNotice(), never) });
    slack.fail({ method: 'users.info', fault: { kind: 'hang' } });
    slack.fail({ method: 'reactions.add', times: 9, fault: { kind: 'hang' } });
    slack.mention({ channel: 'refunds', user: 'bob', text: 'hello' }).catch(() => undefined);
    await slack.called('users.info');
    for (let index = 0; index < 5; index += 1) {
      const ref = { channel: 'C0REFUNDS1', ts: `1.${index}`, thread: '1.0' };
      adapter.conversation.mark(ref, 'working', never).catch(() => undefined);
    }
    await slack.called('reactions.add');
    await slack.click({ channel: 'refunds', action: 'holdpoint_reject', user: 'bob' });
    await slack.called('views.open');
    const stopped = adapter.stop();
    clock.advance(3_000);
    await stopped;
  }, 5_000);

  it('receives messages, and acknowledges unknown events', async () => {
    const { slack, heard, connect } = await openSlackRig();
    await connect();
    await slack.mention({ channel: 'refunds', user: 'ann', text: 'hello there' });
    const odd = await slack.socket.deliver('slash_commands', { command: '/refund' }, true);
    const { adapter, text } = await heard();
    expect({ adapter, text, odd: odd.deliveries }).toEqual({
      adapter: 'slack',
      text: 'hello there',
      odd: 1,
    });
  });

  it('looks up a person again after Slack reports a change', async () => {
    const kept: KeptNotice[] = [];
    const decided: (string | null)[] = [];
    const users = [fakeUser({ id: 'U0BOB00001', name: 'bob', email: 'bob@example.com' })];
    const { slack, adapter, connect } = await openSlackRig({
      slack: { users },
      approvals: {
        find: async () => kept,
        decide: async (_, { email }) => {
          decided.push(email);
          return { kind: 'forbidden' };
        },
      },
    });
    await connect();
    kept.push({ notice: aNotice(), ref: await adapter.deliver(aNotice(), never) });
    await slack.click({ channel: 'refunds', action: 'holdpoint_approve', user: 'bob' });
    await vi.waitFor(() => expect(decided).toHaveLength(1), patient);
    const bob = slack.workspace.user('bob');
    Object.assign(bob ?? {}, { isDeleted: true });
    const event = { type: 'user_change', user: { id: bob?.id ?? '' } };
    await slack.socket.deliver('events_api', { event }, false);
    await slack.click({ channel: 'refunds', action: 'holdpoint_approve', user: 'bob' });
    await vi.waitFor(() => expect(decided).toEqual(['bob@example.com', null]), patient);
  });

  it('acknowledges a message after it was stored, so that none is lost', async () => {
    const tries: string[] = [];
    const { slack, connect } = await openSlackRig({
      slack: { ackWithin: 30, mostDeliveries: 10 },
      takeIn: ({ text }) => tries.push(text) > 2,
    });
    await connect();
    const { deliveries } = await slack.mention({ channel: 'refunds', text: 'hello there' });
    expect({ deliveries, tries }).toEqual({ deliveries: 3, tries: Array(3).fill('hello there') });
  });

  it('waits for open interactions, and leaves nothing running when it stops', async () => {
    const { slack, adapter, clock, states, heard, connect } = await openSlackRig();
    await connect();
    await slack.mention({ channel: 'refunds', user: 'ann', text: 'one more thing' });
    await slack.called('users.info');
    await adapter.stop();
    const { text } = await heard();
    await slack.connected(0);
    expect({ text, timers: clock.pending, states }).toEqual({
      text: 'one more thing',
      timers: 0,
      states: ['connecting', 'connected', 'closed'],
    });
  });

  it('aborts a delivery that is no longer needed', async () => {
    const { slack, adapter, connect } = await openSlackRig();
    await connect();
    slack.fail({ method: 'chat.postMessage', fault: { kind: 'hang' } });
    const given = new AbortController();
    const delivery = adapter.deliver(aNotice(), given.signal);
    await slack.called('chat.postMessage');
    given.abort();
    await expect(delivery).rejects.toMatchObject({ fault: 'later', code: 'delivery_failed' });
  });

  it('posts exactly once when the answer is lost', async () => {
    const { slack, adapter, connect } = await openSlackRig();
    await connect();
    slack.fail({ method: 'chat.postMessage', fault: { kind: 'reset' }, isDone: true });
    await expect(adapter.deliver(aNotice(), never)).rejects.toMatchObject({
      message: expect.stringContaining('the connection broke'),
      fault: 'later',
    });
    expect(slack.messages('refunds')).toHaveLength(1);
  });

  it('updates a message after temporary failures', async () => {
    const { slack, adapter, connect } = await openSlackRig();
    await connect();
    const ref = await adapter.deliver(aNotice(), never);
    slack.fail({ method: 'chat.update', fault: { kind: 'status', status: 503 } });
    await adapter.update(ref, aNotice({}, endings.rejected), 'ended', never);
    expect(slack.messages('refunds').map(({ edits }) => edits)).toEqual([1]);
  });

  it('reports that a message was deleted', async () => {
    const { adapter, connect } = await openSlackRig();
    await connect();
    const ended = aNotice({}, endings.timedOut);
    const gone = { channel: 'C0REFUNDS1', ts: '1.000001' };
    await expect(adapter.update(gone, ended, 'ended', never)).rejects.toMatchObject({
      message:
        'slack: changing a message in C0REFUNDS1 failed: the message is gone (message_not_found)',
      fault: 'gone',
    });
    await expect(adapter.update({}, ended, 'ended', never)).rejects.toMatchObject({
      message: 'slack: the channel of the message is unknown',
      fault: 'gone',
    });
  });

  it('states the remedy when a message cannot be delivered', async () => {
    const { slack, adapter, connect } = await openSlackRig();
    await connect();
    const failing = (target: string) =>
      adapter
        .deliver(aNotice({ target: `channel:slack:${target}` }), never)
        .catch((error: unknown) => {
          const { message, fault } = error as DeliveryError;
          return { message, fault };
        });
    const answers = [await failing('#outside'), await failing('nowhere'), await failing('*')];
    slack.fail({ method: 'chat.postMessage', fault: { kind: 'rateLimited', retryAfter: 7 } });
    const limited: unknown = await adapter
      .deliver(aNotice(), never)
      .catch((error: unknown) => error);
    expect(answers).toEqual([
      {
        message:
          'slack: posting to C0OUTSIDE1 failed: invite the bot into the channel with /invite and its name (not_in_channel)',
        fault: 'target',
      },
      {
        message:
          'slack: no channel that the bot can see is called "nowhere"; create it, or invite the bot if it is private',
        fault: 'target',
      },
      {
        message: 'slack: the target names no channel; write its name or id in "to"',
        fault: 'target',
      },
    ]);
    expect(limited).toMatchObject({ fault: 'later', retryAfter: 7_000 });
  });
});
