import { describe, expect, it } from 'vitest';
import { fakeUser, usualUsers } from '../../../../../packages/fake-slack/workspace/people.ts';
import type { DecisionAttempt } from '../../../../../src/machines/governance/approvers.ts';
import { vouchedInSlack } from '../../../../helpers/slack-agent.ts';
import { textsOf } from '../../../../helpers/slack-in-words.ts';
import { ends, turn } from '../../../../helpers/system-story.ts';
import { ann, approvedByAnn, bob, SlackClicks } from '../slack-clicks.ts';

const eve = 'U0EVE00001';
const guest = 'U0GUEST001';
const acknowledgedOnce = { acknowledged: [null] };
const named = { approvers: ['ann@example.com', 'bob@example.com'] };

describe('a click on Approve', () => {
  it('approves the call in the name of the clicking person, and posts nothing more', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    expect(await clicks.click(message, 'Approve')).toEqual(acknowledgedOnce);
    expect((await ends(clicks.rig.system, task.id)).state).toBe('completed');
    expect(clicks.decisions(task)).toEqual([approvedByAnn]);
    expect(clicks.pay.runs).toHaveLength(1);
    expect(clicks.calls).toEqual([]);
    expect(clicks.warnings).toEqual([]);
  });

  it('names a person without an email by name and id, so that no name looks like an email', async () => {
    const poser = fakeUser({ id: 'U0POSER001', name: 'ann@example.com' });
    const clicks = await SlackClicks.open({ slack: { users: [...usualUsers, poser] } });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve', 'U0POSER001');
    const approver = 'ann@example.com (U0POSER001)';
    expect(clicks.decisions(task)).toEqual([
      { ...approvedByAnn, ...vouchedInSlack('U0POSER001'), approver },
    ]);
  });

  it('answers only a person who may not decide, and the call still waits', async () => {
    const clicks = await SlackClicks.open({ rule: named });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve', 'eve');
    expect(clicks.told).toEqual([
      {
        user: eve,
        text: 'You are not allowed to decide this. It is still waiting. Only the approvers of this tool may decide.',
      },
    ]);
    const refused = {
      ...approvedByAnn,
      ...vouchedInSlack(eve),
      approver: 'eve@example.com',
      authorized: false,
    };
    expect(clicks.decisions(task)).toEqual([refused]);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
    await clicks.click(message, 'Approve', 'ann');
    expect(clicks.decisions(task)).toEqual([refused, approvedByAnn]);
  });

  it.each(['robot', 'gone'])('is ignored from %s, as only people decide', async (user) => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve', user);
    await clicks.click(message, 'Reject', user);
    expect(clicks.decisions(task)).toMatchObject([
      { decision: 'approve', authorized: false },
      { decision: 'reject', authorized: false },
    ]);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
  });

  it.each([
    { why: 'whose account has no email', user: 'guest', scopes: null },
    { why: 'whose email Slack may not reveal', user: 'ann', scopes: ['chat:write', 'users:read'] },
  ])('is refused for a person $why where a list is configured', async ({ user, scopes }) => {
    const clicks = await SlackClicks.open({
      rule: named,
      slack: scopes === null ? {} : { scopes },
    });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve', user);
    expect(clicks.decisions(task)).toMatchObject([{ decision: 'approve', authorized: false }]);
    expect(clicks.told.map(({ text }) => text)).toEqual([
      'You are not allowed to decide this. It is still waiting. Slack did not provide your email address. ' +
        'Only the approvers of this tool may decide.',
    ]);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
  });

  it.each([
    { kind: 'rateLimited', retryAfter: 60 },
    { kind: 'status', status: 503 },
    { kind: 'refuse', error: 'internal_error' },
  ] as const)('asks a person whose look-up fails to retry: %o', async (fault) => {
    const clicks = await SlackClicks.open({ rule: named });
    const { task, message } = await clicks.ask();
    clicks.slack.fail({ method: 'users.info', times: 9, fault });
    const clicking = clicks.click(message, 'Approve');
    for (let tries = 0; tries < 20 && clicks.told.length === 0; tries += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      clicks.rig.clock.advance(500);
    }
    await clicking;
    expect(clicks.told.map(({ text }) => text)).toEqual([
      'Slack could not identify you just now, so nothing was decided. Try again in a moment.',
    ]);
    expect(clicks.decisions(task)).toEqual([]);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
  });

  it('decides when Slack answers again within seconds', async () => {
    const clicks = await SlackClicks.open({ rule: named });
    const { task, message } = await clicks.ask();
    clicks.slack.fail({
      method: 'users.info',
      times: 2,
      fault: { kind: 'refuse', error: 'internal_error' },
    });
    const clicking = clicks.click(message, 'Approve');
    while (clicks.decisions(task).length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      clicks.rig.clock.advance(50);
    }
    await clicking;
    expect(clicks.decisions(task)).toMatchObject([{ approver: 'ann@example.com' }]);
  });

  it('is not refused for a missing scope, which is reported to the operator', async () => {
    const clicks = await SlackClicks.open({ rule: named, slack: { scopes: ['chat:write'] } });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve');
    expect(clicks.decisions(task)).toEqual([]);
    expect(clicks.told.map(({ text }) => text)).toEqual([
      'Slack does not allow the agent to look up users, so nothing was decided. Contact the operator of the agent; its log names the missing scope.',
    ]);
    expect(clicks.rig.logged).toContainEqual({
      level: 'warn',
      fields: {
        error: 'give the Slack app the scope users:read and install it again (missing_scope)',
      },
      message: 'slack: users cannot be looked up, so no email is available',
    });
  });

  it.each([{ quorum: 2 }, { four_eyes: true }])(
    'is refused without an email where people must be distinguished: %o',
    async (rule) => {
      const clicks = await SlackClicks.open({ rule });
      const { task, message } = await clicks.ask();
      await clicks.click(message, 'Approve', 'guest');
      const approver = 'guest (U0GUEST001)';
      expect(clicks.decisions(task)).toEqual([
        { ...approvedByAnn, ...vouchedInSlack(guest), approver, authorized: false },
      ]);
      expect(clicks.told).toEqual([
        {
          user: guest,
          text: 'You are not allowed to decide this. It is still waiting. Slack did not provide your email address.',
        },
      ]);
      expect((await clicks.rig.system.reads.find(task.id))?.deferral?.approvals).toEqual([]);
    },
  );

  it.each([
    { what: 'left', change: { isDeleted: true } },
    { what: 'has another email', change: { email: 'robert@example.com' } },
  ])(
    'is refused when a person known a minute ago $what by the time of the click',
    async ({ change }) => {
      const bob = fakeUser({ id: 'U0BOB00001', name: 'bob', email: 'bob@example.com' });
      const clicks = await SlackClicks.open({ rule: named, slack: { users: [bob] } });
      const first = await clicks.ask();
      await clicks.click(first.message, 'Approve', 'bob');
      const second = await clicks.ask();
      Object.assign(clicks.slack.workspace.user('bob') ?? {}, change);
      clicks.rig.clock.advance(60_000);
      await clicks.click(second.message, 'Approve', 'bob');
      expect(clicks.decisions(first.task)).toMatchObject([{ approver: 'bob@example.com' }]);
      expect(clicks.decisions(second.task)).toMatchObject([{ authorized: false }]);
      expect((await clicks.rig.system.reads.find(second.task.id))?.state).toBe('deferred');
    },
  );

  it('is refused for the requester under four eyes', async () => {
    const rita = fakeUser({ id: 'U0RITA0001', name: 'rita', email: 'Rita@Example.com' });
    const clicks = await SlackClicks.open({
      rule: { four_eyes: true },
      slack: { users: [...usualUsers, rita] },
    });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve', 'rita');
    expect(clicks.told).toEqual([
      {
        user: 'U0RITA0001',
        text: 'You are not allowed to decide this. It is still waiting. The requester may not decide.',
      },
    ]);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
  });

  it('is refused for a requester from Slack under four eyes, also without a known email', async () => {
    const clicks = await SlackClicks.open({ rule: { four_eyes: true } });
    const userId = `slack:${clicks.slack.workspace.teamId}/U0BOB00001`;
    const { task, message } = await clicks.ask('refunds', '5', { provider: 'chat', userId });
    await clicks.click(message, 'Approve', 'bob');
    expect(clicks.decisions(task)).toMatchObject([
      { approver: 'bob@example.com', authorized: false },
    ]);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
    await clicks.click(message, 'Approve', 'ann');
    expect((await ends(clicks.rig.system, task.id)).state).toBe('completed');
  });

  it('counts one approval for each person until the quorum is reached', async () => {
    const clicks = await SlackClicks.open({ rule: { quorum: 2 } });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve', 'ann');
    await clicks.click(message, 'Approve', 'ann');
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
    await clicks.click(message, 'Approve', 'bob');
    expect(clicks.told).toEqual([
      { user: ann, text: 'Your approval is recorded: 1 of 2.' },
      { user: ann, text: 'Your approval is recorded: 1 of 2.' },
    ]);
    expect((await ends(clicks.rig.system, task.id)).state).toBe('completed');
  });

  it('counts once when it is repeated, and answers the second one', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    await Promise.all([clicks.click(message, 'Approve'), clicks.click(message, 'Approve')]);
    expect(clicks.decisions(task)).toEqual([approvedByAnn]);
    expect(clicks.told).toEqual([{ user: ann, text: 'Already approved by ann@example.com' }]);
    expect(clicks.pay.runs).toHaveLength(1);
  });

  it('wins for one of two concurrent people, and the other learns who decided', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    await Promise.all([
      clicks.click(message, 'Approve', 'ann'),
      clicks.click(message, 'Approve', 'bob'),
    ]);
    const settled = (await clicks.rig.system.reads.find(task.id))?.settled;
    const winner = settled?.approver === 'ann@example.com' ? ann : bob;
    expect(clicks.told).toEqual([
      { user: winner === ann ? bob : ann, text: `Already approved by ${settled?.approver}` },
    ]);
    expect(clicks.decisions(task)).toHaveLength(1);
  });
});

describe('the decision of a click', () => {
  it('is bound to the deferral and the shown arguments', async () => {
    const attempts: DecisionAttempt[] = [];
    const clicks = await SlackClicks.open({
      approvals: ({ find, decide }) => ({
        find,
        decide: (taskId, attempt) => {
          attempts.push(attempt);
          return decide(taskId, attempt);
        },
      }),
    });
    const { task, message } = await clicks.ask();
    const { id: deferralId, argsSha256 } = task.deferral!;
    await clicks.click(await clicks.post(task, 'general'), 'Approve', 'guest');
    await clicks.click(message, 'Approve');
    const approval = {
      verb: 'approve',
      approver: 'ann@example.com',
      email: 'ann@example.com',
      note: '',
      caller: {
        provider: 'chat',
        userId: 'slack:T0HOLDPNT1/U0ANN00001',
        email: 'ann@example.com',
      },
      deferralId,
      argsSha256,
      at: clicks.rig.clock.now(),
      source: 'slack',
    };
    expect(attempts).toStrictEqual([
      {
        ...approval,
        approver: 'guest (U0GUEST001)',
        email: null,
        caller: { provider: 'chat', userId: 'slack:T0HOLDPNT1/U0GUEST001' },
        isUntrusted: true,
      },
      approval,
    ]);
  });
});

describe('a long context', () => {
  it('is cut between characters in the audit log, and shown to the approver whole', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask('refunds', '😀'.repeat(600));
    const context = `tool=pay args={"amount":"${'😀'.repeat(600)}"}`;
    const [deferred] = clicks.rig.events(task.id).filter(({ event }) => event === 'task_deferred');
    const fields = deferred?.fields as { context: string };
    expect(fields.context).toBe([...context].slice(0, 512).join(''));
    const line = `amount: "${'😀'.repeat(600)}"`;
    expect(textsOf(message.blocks)[2]).toEqual({ type: 'text', text: line });
    await clicks.click(message, 'Approve');
    expect(clicks.decisions(task)).toEqual([approvedByAnn]);
  });
});

describe('a click on a copy of the posted message', () => {
  const misplaced =
    'This message is out of date for this approval, so nothing was decided. ' +
    'Use the newer message.';

  it.each(['general', 'refunds'])(
    'is refused and recorded as not allowed there, in #%s, and reported as a wrong message',
    async (channel) => {
      const clicks = await SlackClicks.open();
      const { task } = await clicks.ask();
      const other = await clicks.post(task, channel);
      const bodies = (['Approve', 'Reject'] as const).map((action) =>
        clicks.clickOf(other, action),
      );
      for (const body of bodies) await clicks.handle(body);
      expect(clicks.decisions(task)).toEqual([
        { ...approvedByAnn, authorized: false },
        { ...approvedByAnn, decision: 'reject', authorized: false },
      ]);
      expect(clicks.told.map(({ text }) => text)).toEqual([misplaced, misplaced]);
      expect(clicks.slack.views).toEqual([]);
      expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
    },
  );

  it('loses its buttons and links to the valid one', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    const other = await clicks.post(task, 'refunds');
    await clicks.click(other, 'Approve');
    const link = `https://holdpoint-demo.slack.com/archives/${message.channel}/p${message.ts.replace('.', '')}`;
    expect(other).toMatchObject({
      text: 'pay: decide on the newer message',
      blocks: [
        { type: 'header', text: { text: 'Posted twice: pay' } },
        {
          type: 'context',
          elements: [
            { text: `This message does not count. Decide on <${link}|the newer message>.` },
          ],
        },
      ],
    });
    await clicks.click(message, 'Approve');
    expect(clicks.decisions(task)).toEqual([
      { ...approvedByAnn, authorized: false },
      approvedByAnn,
    ]);
  });

  it('waits for a message that is being posted', async () => {
    const clicks = await SlackClicks.open();
    const { task } = await clicks.ask();
    const { clock } = clicks.rig;
    const other = await clicks.askUnkept();
    const handled = clicks.click(other.message, 'Approve');
    await turn();
    expect(clicks.decisions(other.task)).toEqual([]);
    await clicks.keep(other.task, other.message);
    clock.advance(100);
    await handled;
    expect(clicks.decisions(other.task)).toEqual([{ ...approvedByAnn, wait_ms: 100 }]);
    expect(clicks.decisions(task)).toEqual([]);
  });

  it('waits at most one and a half seconds for it', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.askUnkept();
    const handled = clicks.click(message, 'Approve');
    for (let step = 0; step < 15; step += 1) {
      await turn();
      clicks.rig.clock.advance(100);
    }
    await handled;
    expect(clicks.decisions(task)).toMatchObject([{ authorized: false, wait_ms: 1_500 }]);
    expect(clicks.told).toEqual([{ user: ann, text: misplaced }]);
    // It may be the one that counts and only not be kept yet.
    expect(message.blocks.map(({ type }) => type)).toContain('actions');
  });

  it('is answered when the approval is not stored', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    const actions = [{ action_id: 'holdpoint_approve', value: 'unknown', action_ts: '1.1' }];
    await clicks.handle(clicks.clickOf(message, 'Approve', 'ann', { actions }));
    expect(clicks.told).toEqual([
      { user: ann, text: 'This approval no longer exists, so nothing was decided.' },
    ]);
    expect(clicks.decisions(task)).toEqual([]);
  });
});

describe('a click after the end', () => {
  it('reports that the time is over, removes the buttons, and changes nothing', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    const body = clicks.clickOf(message, 'Approve');
    clicks.rig.clock.advance(300_000);
    await ends(clicks.rig.system, task.id);
    await clicks.handle(body);
    expect(clicks.told).toEqual([
      {
        user: ann,
        text: 'This approval has expired. No decision within 5m0s, so the call was denied.',
      },
    ]);
    expect(message.blocks.map(({ type }) => type)).toEqual([
      'header',
      'section',
      'rich_text',
      'rich_text',
      'section',
      'context',
    ]);
    expect(message.text).toBe('pay: No decision within 5m0s, so the call was denied.');
    expect(clicks.calls).toEqual(['chat.update', 'chat.postEphemeral']);
    expect(clicks.decisions(task)).toEqual([]);
  });

  it('opens no form, and names the person who rejected the call', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    const reject = clicks.clickOf(message, 'Reject', 'bob');
    await clicks.rig.system.decide(task.id, {
      verb: 'reject',
      approver: '<!channel> & *co*',
      email: null,
      note: '',
      caller: null,
      deferralId: null,
      argsSha256: null,
      at: clicks.rig.clock.now(),
    });
    await clicks.handle(reject);
    expect(clicks.told).toEqual([
      { user: bob, text: 'Already rejected by &lt;!channel&gt; &amp; *co*' },
    ]);
    expect(clicks.calls).toEqual(['chat.update', 'chat.postEphemeral']);
  });

  it('does not edit a message in a channel without a notified approver', async () => {
    const clicks = await SlackClicks.open();
    const { task } = await clicks.ask();
    const other = await clicks.post(task, 'general');
    const body = clicks.clickOf(other, 'Approve');
    await clicks.rig.system.cancel(task.id, 'not needed');
    await clicks.handle(body);
    expect(clicks.calls).toEqual(['chat.postEphemeral']);
    expect(other.edits).toBe(0);
  });

  it.each([
    { first: 'the click', isClickFirst: true, state: 'completed', told: [] },
    {
      first: 'the deadline',
      isClickFirst: false,
      state: 'failed',
      told: ['This approval has expired, or its task has ended. Nothing was decided.'],
    },
  ])(
    'is decided by the first of two events at the same moment: $first',
    async ({ isClickFirst, state, told }) => {
      const clicks: SlackClicks = await SlackClicks.open({
        approvals: ({ find, decide }) => ({
          find,
          decide: async (taskId, attempt) => {
            if (!isClickFirst) {
              clicks.rig.clock.advance(300_000);
              await ends(clicks.rig.system, taskId);
            }
            const answer = decide(taskId, attempt);
            if (isClickFirst) clicks.rig.clock.advance(300_000);
            return answer;
          },
        }),
      });
      const { task, message } = await clicks.ask();
      await clicks.click(message, 'Approve');
      expect((await ends(clicks.rig.system, task.id)).state).toBe(state);
      expect(clicks.told.map(({ text }) => text)).toEqual(told);
      const endings = clicks.rig
        .events(task.id)
        .filter(({ event }) => event.startsWith('task_deferred_'));
      expect(endings).toHaveLength(1);
      expect(clicks.pay.runs).toHaveLength(isClickFirst ? 1 : 0);
    },
  );
});
