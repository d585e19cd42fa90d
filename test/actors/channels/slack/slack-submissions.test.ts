import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../../packages/fake-slack/web-api/faults.ts';
import type { FakeView } from '../../../../packages/fake-slack/workspace/workspace.ts';
import { vouchedInSlack } from '../../../helpers/slack-agent.ts';
import { ends, gate, turn } from '../../../helpers/system-story.ts';
import { type Asked, ann, approvedByAnn, SlackClicks } from './slack-clicks.ts';

const named = { approvers: ['ann@example.com', 'bob@example.com'] };
const rejectedByAnn = { ...approvedByAnn, decision: 'reject' };
const unrecorded =
  'The decision could not be recorded, so nothing was decided. Try again in a moment.';

/** What is answered in the form. */
function refused(words: string) {
  return { acknowledged: [{ response_action: 'errors', errors: { reason: words } }] };
}

/** Clicks on Reject and returns the form that opens. */
async function formOf(clicks: SlackClicks, { message }: Asked, user = 'ann'): Promise<FakeView> {
  await clicks.click(message, 'Reject', user);
  const view = clicks.slack.views.at(-1);
  if (view === undefined) throw new Error('no form opened');
  return view;
}

describe('a click on Reject', () => {
  it('opens a form that asks for a reason, and decides nothing', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    expect(await clicks.click(message, 'Reject')).toEqual({ acknowledged: [null] });
    const { channel, ts } = message;
    expect(clicks.slack.views.map(({ content, user }) => ({ user, content }))).toEqual([
      {
        user: ann,
        content: {
          type: 'modal',
          callback_id: 'holdpoint_reject_reason',
          private_metadata: JSON.stringify({ deferralId: task.deferral?.id, channel, ts }),
          title: { type: 'plain_text', text: 'Reject this call?', emoji: false },
          submit: { type: 'plain_text', text: 'Reject', emoji: false },
          close: { type: 'plain_text', text: 'Keep waiting', emoji: false },
          blocks: [
            {
              type: 'section',
              text: {
                type: 'plain_text',
                text: 'Tool: pay\nRequested by: rita@example.com',
                emoji: false,
              },
            },
            {
              type: 'input',
              block_id: 'reason',
              optional: true,
              label: { type: 'plain_text', text: 'Reason', emoji: false },
              hint: {
                type: 'plain_text',
                text: 'The requester can read it, and it is stored in the audit log.',
                emoji: false,
              },
              element: {
                type: 'plain_text_input',
                action_id: 'reason',
                multiline: true,
                max_length: 2_000,
              },
            },
          ],
        },
      },
    ]);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
    expect(clicks.decisions(task)).toEqual([]);
    expect(clicks.calls).toEqual(['views.open']);
  });

  it('refuses at once a person who may not decide, without a form', async () => {
    const clicks = await SlackClicks.open({ rule: named });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Reject', 'eve');
    const approver = 'eve@example.com';
    expect(clicks.decisions(task)).toEqual([
      { ...rejectedByAnn, ...vouchedInSlack('U0EVE00001'), approver, authorized: false },
    ]);
    expect(clicks.calls).toEqual(['chat.postEphemeral']);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
  });

  it.each<Fault>([
    { kind: 'refuse', error: 'expired_trigger_id' },
    { kind: 'refuse', error: 'exchanged_trigger_id' },
    { kind: 'refuse', error: 'invalid_trigger_id' },
    { kind: 'refuse', error: 'view_too_large' },
    { kind: 'refuse', error: 'invalid_auth' },
    { kind: 'rateLimited', retryAfter: 30 },
    { kind: 'html' },
    { kind: 'status', status: 403 },
  ])('rejects without a reason when the form does not open: %o', async (fault) => {
    const clicks = await SlackClicks.open();
    clicks.slack.fail({ method: 'views.open', times: 9, fault });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Reject');
    expect((await ends(clicks.rig.system, task.id)).text).toBe(
      'defer: rejected by ann@example.com',
    );
    expect(clicks.decisions(task)).toEqual([rejectedByAnn]);
    expect(clicks.told).toEqual([
      {
        user: ann,
        text: 'Slack could not ask you for a reason, so the call was rejected without one.',
      },
    ]);
    expect(clicks.warnings).toHaveLength(1);
  });

  it('rejects without a reason when Slack has not opened the form in three seconds', async () => {
    const clicks = await SlackClicks.open();
    clicks.slack.fail({ method: 'views.open', fault: { kind: 'hang' } });
    const { task, message } = await clicks.ask();
    const handled = clicks.click(message, 'Reject');
    await clicks.slack.called('views.open');
    clicks.rig.clock.advance(2_999);
    await turn();
    expect(clicks.decisions(task)).toEqual([]);
    clicks.rig.clock.advance(1);
    await handled;
    expect(clicks.decisions(task)).toEqual([{ ...rejectedByAnn, wait_ms: 3_000 }]);
  });

  it('opens the form for a person whose look-up is slow, and checks them at the reason', async () => {
    const clicks = await SlackClicks.open({ rule: named });
    clicks.slack.fail({ method: 'users.info', fault: { kind: 'hang' } });
    const { task, message } = await clicks.ask();
    const handled = clicks.click(message, 'Reject', 'eve');
    await clicks.slack.called('users.info');
    clicks.rig.clock.advance(1_000);
    await handled;
    expect(clicks.calls).toEqual(['views.open']);
    expect(clicks.decisions(task)).toEqual([]);
  });
});

describe('a reason', () => {
  it.each([
    { reason: '  the order was never paid\n ', note: 'the order was never paid' },
    { reason: ' \n ', note: '' },
    { reason: '', note: '' },
    { reason: '😀'.repeat(2_000), note: '😀'.repeat(2_000) },
    { reason: 'half \uD83D', note: 'half \uFFFD' },
  ])('rejects the call with the written text: $reason', async ({ reason, note }) => {
    const clicks = await SlackClicks.open();
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    expect(await clicks.submit(view, reason)).toEqual({ acknowledged: [null] });
    const ended = await ends(clicks.rig.system, asked.task.id);
    expect(ended.settled).toMatchObject({ decision: 'reject', approver: 'ann@example.com', note });
    expect(clicks.decisions(asked.task)).toHaveLength(1);
    expect(clicks.pay.runs).toEqual([]);
    expect(clicks.told).toEqual([]);
    expect(clicks.warnings).toEqual([]);
  });

  it('is refused in the form when it has more than 2000 characters', async () => {
    const clicks = await SlackClicks.open();
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    expect(await clicks.submit(view, 'x'.repeat(2_001))).toEqual(
      refused('A reason may have 2000 characters at most. Shorten it and try again.'),
    );
    expect(clicks.decisions(asked.task)).toEqual([]);
    await clicks.submit(view, 'x'.repeat(2_000));
    expect(clicks.decisions(asked.task)).toHaveLength(1);
  });

  it('is refused in the form, with the name of a person who decided first', async () => {
    const clicks = await SlackClicks.open();
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    await clicks.click(asked.message, 'Approve', 'bob');
    await ends(clicks.rig.system, asked.task.id);
    expect(await clicks.submit(view, 'too risky')).toEqual(
      refused('Already approved by bob@example.com'),
    );
    expect(clicks.decisions(asked.task)).toHaveLength(1);
  });

  it('is refused in the form when the time is over', async () => {
    const clicks = await SlackClicks.open();
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    clicks.rig.clock.advance(300_000);
    await ends(clicks.rig.system, asked.task.id);
    expect(await clicks.submit(view, 'too risky')).toEqual(
      refused('This approval has expired. No decision within 5m0s, so the call was denied.'),
    );
  });

  it('is refused in the form when another person without the right sends it', async () => {
    const clicks = await SlackClicks.open({ rule: named });
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    expect(await clicks.submit(view, 'mine now', 'eve')).toEqual(
      refused(
        'You are not allowed to decide this. It is still waiting. Only the approvers of this tool may decide.',
      ),
    );
    expect(clicks.decisions(asked.task)).toEqual([
      {
        ...rejectedByAnn,
        ...vouchedInSlack('U0EVE00001'),
        approver: 'eve@example.com',
        note: 'mine now',
        authorized: false,
      },
    ]);
  });

  it.each([
    {
      what: 'another message',
      change: { ts: '1.000001' },
      audited: 1,
      words: /^This message is out of date/,
    },
    { what: 'another channel', change: { channel: 'C0GENERAL1' }, audited: 1, words: /^This mess/ },
    {
      what: 'another deferral',
      change: { deferralId: 'x' },
      audited: 0,
      words: /^This approval no longer exists/,
    },
    { what: 'nothing', change: null, audited: 0, words: /^This approval no longer exists/ },
  ])('is refused when the form contains $what', async ({ change, audited, words }) => {
    const clicks = await SlackClicks.open();
    const asked = await clicks.ask();
    const { content } = await formOf(clicks, asked);
    const place = JSON.parse(String(content['private_metadata'])) as object;
    const metadata = change === null ? '{' : JSON.stringify({ ...place, ...change });
    const view = { ...clicks.slack.views[0]!, content: { ...content, private_metadata: metadata } };
    const { acknowledged } = await clicks.submit(view, 'no');
    expect(acknowledged).toEqual([
      { response_action: 'errors', errors: { reason: expect.stringMatching(words) } },
    ]);
    expect(clicks.decisions(asked.task)).toEqual(
      Array.from({ length: audited }, () => ({ ...rejectedByAnn, note: 'no', authorized: false })),
    );
    expect((await clicks.rig.system.reads.find(asked.task.id))?.state).toBe('deferred');
  });

  it.each([
    { whose: 'of another app', change: { api_app_id: 'A0OTHER001' }, warnings: 1 },
    { whose: 'of another workspace', change: { team: { id: 'T0OTHER001' } }, warnings: 1 },
    { whose: 'in a form of another person', change: { view: { callback_id: 'x' } }, warnings: 0 },
  ])('is only acknowledged: $whose', async ({ change, warnings }) => {
    const clicks = await SlackClicks.open();
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    const body = { ...clicks.submissionOf(view, 'no'), ...change };
    expect(await clicks.handle(body)).toEqual({ acknowledged: [null] });
    expect(clicks.decisions(asked.task)).toEqual([]);
    expect(clicks.warnings).toHaveLength(warnings);
  });

  it('is one reason however often it is delivered, with the same answer', async () => {
    const clicks = await SlackClicks.open({ rule: named });
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    const body = clicks.submissionOf(view, 'no', 'eve');
    const handled = await Promise.all([1, 2, 3].map(() => clicks.handle(body, { id: 'one' })));
    handled.push(await clicks.handle(body, { id: 'one' }));
    const answer = refused(
      'You are not allowed to decide this. It is still waiting. Only the approvers of this tool may decide.',
    );
    expect(handled).toEqual([answer, answer, answer, answer]);
    expect(clicks.decisions(asked.task)).toHaveLength(1);
  });
});

describe('a reason during a failure', () => {
  it('is acknowledged in time when the decision takes longer, and the outcome follows', async () => {
    const door = gate();
    const clicks = await SlackClicks.open({
      approvals: ({ find, decide }) => ({
        find,
        decide: async (taskId, attempt) => {
          await door.opened;
          return decide(taskId, attempt);
        },
      }),
      rule: named,
    });
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    const answered = gate();
    const acknowledged: unknown[] = [];
    const ack = (response?: object): Promise<void> => {
      acknowledged.push(response ?? null);
      answered.open();
      return Promise.resolve();
    };
    const handled = clicks.handle(clicks.submissionOf(view, 'no', 'eve'), { id: 'one', ack });
    clicks.rig.clock.advance(2_500);
    await answered.opened;
    expect(acknowledged).toEqual([null]);
    expect(clicks.told).toEqual([]);
    door.open();
    await handled;
    expect(acknowledged).toEqual([null]);
    expect(clicks.told).toEqual([
      {
        user: 'U0EVE00001',
        text: 'You are not allowed to decide this. It is still waiting. Only the approvers of this tool may decide.',
      },
    ]);
  });

  it('is refused in the form when it cannot be recorded, and may be sent again', async () => {
    let failures = 1;
    const clicks = await SlackClicks.open({
      approvals: ({ find, decide }) => ({
        find,
        decide: (taskId, attempt) => {
          failures -= 1;
          return failures < 0 ? decide(taskId, attempt) : Promise.reject(new Error('disk full'));
        },
      }),
    });
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    const body = clicks.submissionOf(view, 'no');
    expect(await clicks.handle(body, { id: 'one' })).toEqual(refused(unrecorded));
    expect(clicks.decisions(asked.task)).toEqual([]);
    expect(await clicks.handle(body, { id: 'one' })).toEqual({ acknowledged: [null] });
    expect(clicks.decisions(asked.task)).toEqual([{ ...rejectedByAnn, note: 'no' }]);
  });

  it('is refused in the form when the store cannot be read', async () => {
    let isBroken = false;
    const clicks = await SlackClicks.open({
      approvals: ({ find, decide }) => ({
        decide,
        find: (deferralId, adapter) => {
          if (isBroken) throw new Error('database is locked');
          return find(deferralId, adapter);
        },
      }),
    });
    const asked = await clicks.ask();
    const view = await formOf(clicks, asked);
    isBroken = true;
    expect(await clicks.submit(view, 'no')).toEqual(refused(unrecorded));
    expect(clicks.decisions(asked.task)).toEqual([]);
  });
});
