import { describe, expect, it } from 'vitest';
import { viewClosed } from '../../../../../packages/fake-slack/socket-mode/payloads.ts';
import { ann, approvedByAnn, SlackClicks } from '../slack-clicks.ts';

const acknowledgedOnce = { acknowledged: [null] };
const named = { approvers: ['ann@example.com', 'bob@example.com'] };

describe('a click on a call whose decisions need a reason', () => {
  it.each([
    ['Approve', 'approve'],
    ['Reject', 'reject'],
  ] as const)('on %s opens a view that requires the reason', async (button, decision) => {
    const clicks = await SlackClicks.open({ rule: { require_reason: 'both' } });
    const { task, message } = await clicks.ask();
    await clicks.click(message, button);
    expect(clicks.decisions(task)).toEqual([]);
    const [view] = clicks.slack.views;
    if (view === undefined) throw new Error('no view was opened');
    const blocks = view.content['blocks'] as { type: string; optional?: boolean }[];
    expect(blocks.filter(({ type }) => type === 'input')).toMatchObject([{ optional: false }]);
    const refusal = `A reason is required to ${decision} this call, so nothing was decided.`;
    const { acknowledged } = await clicks.handle(clicks.submissionOf(view, ' '));
    expect(JSON.stringify(acknowledged)).toContain(refusal);
    expect(clicks.decisions(task)).toEqual([]);
    await clicks.handle(clicks.submissionOf(view, 'checked'));
    expect(clicks.decisions(task)).toMatchObject([{ decision, note: 'checked' }]);
  });

  it('decides nothing where Slack opens no view', async () => {
    const clicks = await SlackClicks.open({ rule: { require_reason: 'approve' } });
    const { task, message } = await clicks.ask();
    const fault = { kind: 'refuse', error: 'expired_trigger_id' } as const;
    clicks.slack.fail({ method: 'views.open', times: 9, fault });
    await clicks.click(message, 'Approve');
    expect(clicks.decisions(task)).toEqual([]);
    expect(clicks.told).toMatchObject([
      { text: expect.stringContaining('A reason is required to approve this call') },
    ]);
  });
});

describe('a click that Slack delivers again', () => {
  it('is one click, under one envelope or two, during the work and after it', async () => {
    const clicks = await SlackClicks.open({ rule: { quorum: 2 } });
    const { task, message } = await clicks.ask();
    const body = clicks.clickOf(message, 'Approve');
    const handled = await Promise.all([
      clicks.handle(body, { id: 'one' }),
      clicks.handle(body, { id: 'one' }),
      clicks.handle(body, { id: 'two' }),
    ]);
    handled.push(await clicks.handle(body, { id: 'one' }));
    handled.push(await clicks.handle(body, { id: 'two' }));
    expect(handled).toEqual(Array.from({ length: 5 }, () => acknowledgedOnce));
    expect(clicks.decisions(task)).toHaveLength(1);
    expect(clicks.told).toHaveLength(1);
  });

  it('is retried when it could not be recorded', async () => {
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
    const { task, message } = await clicks.ask();
    const body = clicks.clickOf(message, 'Approve');
    await clicks.handle(body, { id: 'one' });
    expect(clicks.told).toEqual([
      {
        user: ann,
        text: 'The decision could not be recorded, so nothing was decided. Try again in a moment.',
      },
    ]);
    expect(clicks.decisions(task)).toEqual([]);
    await clicks.handle(body, { id: 'one' });
    expect(clicks.decisions(task)).toEqual([approvedByAnn]);
  });

  it('is stored before it is acknowledged', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    const body = clicks.clickOf(message, 'Approve');
    const again: Promise<unknown>[] = [];
    const ack = (): Promise<void> => {
      if (again.length === 0) again.push(clicks.handle(body, { id: 'one' }));
      return Promise.resolve();
    };
    await clicks.handle(body, { id: 'one', ack });
    expect(await again[0]).toEqual(acknowledgedOnce);
    expect(clicks.decisions(task)).toHaveLength(1);
    expect(clicks.told).toEqual([]);
  });
});

describe('a click for another app', () => {
  it.each([
    { whose: 'another app', changes: { api_app_id: 'A0OTHER001' } },
    { whose: 'no app', changes: { api_app_id: null } },
    { whose: 'another workspace', changes: { team: { id: 'T0OTHER001', domain: 'other' } } },
    { whose: 'no workspace', changes: { team: null } },
  ])('is acknowledged and dropped with a warning: $whose', async ({ changes }) => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    const body = clicks.clickOf(message, 'Approve', 'ann', changes);
    expect(await clicks.handle(body)).toEqual(acknowledgedOnce);
    expect(clicks.warnings).toEqual(['slack: a click for another app or workspace was dropped']);
    expect(clicks.decisions(task)).toEqual([]);
    expect(clicks.slack.calls).toEqual([]);
  });

  it('is dropped while our own app is unknown', async () => {
    const clicks = await SlackClicks.open({ self: () => null });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve');
    expect(clicks.warnings).toEqual(['slack: a click for another app or workspace was dropped']);
    expect(clicks.decisions(task)).toEqual([]);
  });

  it('is identified by its workspace alone while our app is unknown', async () => {
    const clicks = await SlackClicks.open({ self: (self) => ({ ...self, appId: null }) });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve');
    expect(clicks.decisions(task)).toEqual([approvedByAnn]);
  });

  it.each(['other_app_approve', 'holdpoint_open', '__proto__', 'constructor'])(
    'is only acknowledged when it is on the button %s',
    async (action_id) => {
      const clicks = await SlackClicks.open();
      const { task, message } = await clicks.ask();
      const actions = [{ action_id, value: task.deferral?.id ?? '', action_ts: '1.1' }];
      const body = clicks.clickOf(message, 'Approve', 'ann', { actions });
      expect(await clicks.handle(body)).toEqual(acknowledgedOnce);
      expect(clicks.decisions(task)).toEqual([]);
      expect(clicks.slack.calls).toEqual([]);
      expect(clicks.warnings).toEqual([]);
    },
  );

  it.each([
    null,
    'text',
    7,
    [[]],
    {},
    { type: 'block_actions' },
    { type: 'view_submission', view: {} },
  ])('is only acknowledged when it is malformed: %j', async (body) => {
    const clicks = await SlackClicks.open();
    expect(await clicks.handle(body)).toEqual(acknowledgedOnce);
    expect(clicks.slack.calls).toEqual([]);
    expect(clicks.warnings).toEqual([]);
  });

  it('is only acknowledged when it closes the form', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Reject');
    const { workspace, views } = clicks.slack;
    const [view] = views;
    const body = viewClosed(workspace, view!, workspace.user('ann')!);
    expect(await clicks.handle(body)).toEqual(acknowledgedOnce);
    expect((await clicks.rig.system.reads.find(task.id))?.state).toBe('deferred');
  });
});

describe('a click during a failure', () => {
  it('counts although Slack does not receive the acknowledgement', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    const ack = (): Promise<void> => Promise.reject(new Error('the socket with xoxb-1 is gone'));
    await clicks.handle(clicks.clickOf(message, 'Approve'), { id: 'one', ack });
    expect(clicks.decisions(task)).toEqual([approvedByAnn]);
    expect(clicks.warnings).toEqual(['slack: acknowledging a click failed: the connection broke']);
  });

  it('counts although its answer fails: the log has the failure without the text', async () => {
    const clicks = await SlackClicks.open({ rule: named });
    const { task, message } = await clicks.ask();
    clicks.slack.fail({
      method: 'chat.postEphemeral',
      fault: { kind: 'refuse', error: 'user_not_in_channel' },
    });
    await clicks.click(message, 'Approve', 'eve');
    expect(clicks.decisions(task)).toMatchObject([{ authorized: false }]);
    expect(clicks.warnings).toHaveLength(1);
    expect(clicks.warnings[0]).toMatch(/^slack: replying to a click failed: .*user_not_in_channel/);
    expect(JSON.stringify(clicks.rig.logged)).not.toContain('eve@example.com');
  });

  it('decides nothing when the store cannot be read, and reports that', async () => {
    const clicks = await SlackClicks.open({
      approvals: ({ decide }) => ({
        decide,
        find: () => {
          throw new Error('database is locked');
        },
      }),
    });
    const { task, message } = await clicks.ask();
    await clicks.click(message, 'Approve');
    expect(clicks.decisions(task)).toEqual([]);
    expect(clicks.told.map(({ text }) => text)).toEqual([
      'The decision could not be recorded, so nothing was decided. Try again in a moment.',
    ]);
    expect(clicks.warnings).toEqual(['slack: a click could not be handled; the approval waits']);
  });
});

describe('several buttons in one click', () => {
  it('count as the first one that is ours', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.ask();
    const ours = { ...clicks.clickOf(message, 'Approve') };
    const actions = [{ action_id: 'foreign', action_ts: '1.1' }, ...(ours['actions'] as object[])];
    await clicks.handle({ ...ours, actions });
    expect(clicks.decisions(task)).toEqual([approvedByAnn]);
  });
});
