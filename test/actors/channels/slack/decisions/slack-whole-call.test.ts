import { describe, expect, it } from 'vitest';
import type {
  FakeMessage,
  FakeView,
} from '../../../../../packages/fake-slack/workspace/workspace.ts';
import { textsOf } from '../../../../helpers/slack-in-words.ts';
import { SlackClicks } from '../slack-clicks.ts';

const hiding = { note: 'Dear Sir, '.repeat(440), amount: '1000000', to: 'mallory' };

function shownOn({ blocks }: FakeMessage): string {
  return textsOf(blocks)
    .map(({ text }) => text)
    .join('\n');
}

function shownIn({ content }: FakeView): string {
  return textsOf(content['blocks'] as never)
    .map(({ text }) => text)
    .join('');
}

async function stateOf(clicks: SlackClicks, id: string): Promise<string | undefined> {
  return (await clicks.rig.system.reads.find(id))?.state;
}

describe('a call that is too long for its message', () => {
  it('shows each argument, short ones first and whole, and the length of the others', async () => {
    const clicks = await SlackClicks.open();
    const { message } = await clicks.askFor(hiding);
    const lines = shownOn(message).split('\n');
    const at = lines.indexOf('to: "mallory"');
    expect(lines[at + 1]).toBe('amount: "1000000"');
    expect(lines[at + 2]).toMatch(/^note: "Dear Sir, .* … 4,400 characters … .*Dear Sir, "$/);
  });

  it('states the number of arguments without a line', async () => {
    const clicks = await SlackClicks.open();
    const args = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`key${index}`, 'x'.repeat(90)]),
    );
    const { message } = await clicks.askFor(args);
    const lines = shownOn(message).match(/key\d+: /g) ?? [];
    expect(shownOn(message)).toContain(
      `Parts of this call are cut, and ${100 - lines.length} more arguments have no line.`,
    );
    expect(lines.length).toBeGreaterThan(20);
  });

  it('is approved only at the end of a view that shows all of it', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.askFor(hiding);
    await clicks.click(message, 'Approve');
    const [view] = clicks.slack.views;
    if (view === undefined) throw new Error('no view was opened');
    expect(shownIn(view)).toContain(hiding.note);
    expect(await stateOf(clicks, task.id)).toBe('deferred');
    const { acknowledged } = await clicks.handle(clicks.submissionOf(view, ''));
    expect(acknowledged).toEqual([null]);
    expect(clicks.decisions(task)).toMatchObject([
      { decision: 'approve', approver: 'ann@example.com' },
    ]);
  });

  it('is read part by part before Approve appears', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.askFor({ note: 'x'.repeat(70_000), to: 'mallory' });
    await clicks.click(message, 'Approve');
    const [view] = clicks.slack.views;
    if (view === undefined) throw new Error('no view was opened');
    expect(view.content['submit']).toMatchObject({ text: 'Next part' });
    const { acknowledged } = await clicks.handle(clicks.submissionOf(view, ''));
    expect(await stateOf(clicks, task.id)).toBe('deferred');
    const next = (acknowledged[0] as { view: FakeView['content'] }).view;
    expect(acknowledged[0]).toMatchObject({
      response_action: 'update',
      view: { submit: { text: 'Approve' } },
    });
    await clicks.handle(clicks.submissionOf({ ...view, content: next }, ''));
    expect(clicks.decisions(task)).toMatchObject([
      { decision: 'approve', approver: 'ann@example.com' },
    ]);
  });

  it('that is too long for Slack has its digest and the commands, and no Approve', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.askFor({ note: 'x'.repeat(300_000) });
    await clicks.click(message, 'Approve');
    const [view] = clicks.slack.views;
    if (view === undefined) throw new Error('no view was opened');
    expect(view.content['submit']).toBeUndefined();
    const digest = task.deferral?.argsSha256 ?? '';
    expect(shownIn(view)).toContain(`--deferral ${task.deferral?.id} --args-sha256 ${digest}`);
    expect(await stateOf(clicks, task.id)).toBe('deferred');
  });

  it('shows who decided while its view was open', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.askFor(hiding);
    await clicks.click(message, 'Approve');
    const [view] = clicks.slack.views;
    if (view === undefined) throw new Error('no view was opened');
    await clicks.rig.system.cancel(task.id, 'external_signal');
    const { acknowledged } = await clicks.handle(clicks.submissionOf(view, ''));
    expect(JSON.stringify(acknowledged)).toContain(
      'This approval is over. The task was canceled before a decision.',
    );
  });

  it('is not approved when Slack cannot show it', async () => {
    const clicks = await SlackClicks.open();
    const { task, message } = await clicks.askFor(hiding);
    clicks.slack.fail({
      method: 'views.open',
      fault: { kind: 'refuse', error: 'internal_error' },
    });
    await clicks.click(message, 'Approve');
    expect(clicks.told.map(({ text }) => text)).toEqual([
      'Slack could not show you the whole call, so nothing was decided. Click again, or decide in the dashboard or on the command line.',
    ]);
    expect(await stateOf(clicks, task.id)).toBe('deferred');
  });

  it('opens for no person who may not decide', async () => {
    const clicks = await SlackClicks.open({ rule: { approvers: ['bob@example.com'] } });
    const { task, message } = await clicks.askFor(hiding);
    await clicks.click(message, 'Approve');
    expect(clicks.slack.views).toEqual([]);
    expect(clicks.decisions(task)).toMatchObject([{ decision: 'approve', authorized: false }]);
  });
});
