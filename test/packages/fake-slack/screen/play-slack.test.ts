import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { playSlack } from '../../../../packages/fake-slack/screen/play-slack.ts';
import { Output } from '../../../../src/cli/output.ts';
import { Prompter } from '../../../../src/cli/try/prompter.ts';
import { openSlack } from '../open-slack.ts';
import { startRefundApp } from '../refund-app.ts';

/** A fake Slack with an app that asks, and a person who plays with it. */
async function openPlay(isTalker = false) {
  const { slack } = await openSlack();
  await startRefundApp(slack, isTalker);
  const [input, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const output = new Output({
    stdout,
    stderr,
    env: {},
    isJson: false,
    isDebug: false,
    mayColour: false,
  });
  const leave = new AbortController();
  const prompter = new Prompter(input, stdout, () => undefined);
  onTestFinished(() => prompter.close());
  const printed: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [stdout, stderr]) {
    stream.on('data', (data) => {
      printed.push(String(data));
      for (const look of waiting) look();
    });
  }
  const over = playSlack({
    terminal: output,
    slack,
    prompter,
    channel: 'refunds',
    user: 'ann',
    signal: leave.signal,
  });
  return {
    slack,
    over,
    leave,
    type: (line: string) => void input.write(`${line}\n`),
    end: () => void input.end(),
    seen: () => printed.join(''),
    /** Waits until something is printed. */
    sees: (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => void (printed.join('').includes(text) && resolve());
        waiting.add(look);
        look();
      }),
    /** Waits until the last message in the channel says something. */
    shows: (text: string) =>
      slack.until(() => (slack.messages('refunds').at(-1)?.text === text ? true : undefined)),
  };
}

describe('playing in the fake Slack', () => {
  it('shows the question, clicks Approve, and shows the outcome', async () => {
    const play = await openPlay();
    play.type('refund A-1042');
    await play.sees('Approve, reject or leave? ');
    play.type('a');
    await play.shows('Approved by <@U0ANN00001>');
    play.type('leave');
    await play.over;
    const seen = play.seen();
    expect(seen).toContain('Ann Miller  #refunds\n  | @holdpoint refund A-1042\n');
    expect(seen).toContain('Holdpoint  #refunds\n  | [ Approve ] [ Reject ]\n');
    expect(seen).toContain('Holdpoint  #refunds, changed\n  | Approved by @ann\n');
  });

  it('shows the modal of a rejection, and sends the reason', async () => {
    const play = await openPlay();
    play.type('refund A-1042');
    await play.shows('Refund?');
    play.type('reject');
    await play.sees('Reason (may be empty): ');
    play.type('not broken at all');
    await play.shows('Rejected: not broken at all');
    play.end();
    await play.over;
    expect(play.seen()).toContain(
      '  | Reject\n  | Reason (optional): ____\n  | [ Reject ] [  ]\nReason (may be empty): ',
    );
  });

  it('waits for the modal, with any messages in between', async () => {
    const play = await openPlay(true);
    play.type('refund A-1042');
    await play.shows('Refund?');
    play.type('reject');
    await play.sees('Reason (may be empty): ');
    expect(play.seen()).toContain('One moment.');
    play.end();
    await play.over;
  });

  it('asks for the call when several wait', async () => {
    const play = await openPlay();
    play.type('refund A-1042');
    await play.sees('Approve, reject or leave? ');
    play.type('refund A-1001');
    await play.sees('2 calls wait: approve or reject 1 to 2, or leave? ');
    play.type('a');
    await play.sees('Which one? Say a 1 or r 1, up to 2.\n');
    expect(play.seen()).toContain('  1  [ Approve ] [ Reject ]\n  2  [ Approve ] [ Reject ]\n');
    play.type('a 3');
    play.type('a 2');
    await play.shows('Approved by <@U0ANN00001>');
    play.type('leave');
    await play.over;
    expect(play.slack.messages('refunds').map(({ text }) => text)).toEqual([
      '<@U0HOLDPNT1> refund A-1042',
      'Refund?',
      '<@U0HOLDPNT1> refund A-1001',
      'Approved by <@U0ANN00001>',
    ]);
  });

  it('lists the commands, and sends none of them to the agent', async () => {
    const play = await openPlay();
    for (const word of ['help', '?', 'h']) play.type(word);
    play.type('leave');
    await play.over;
    expect(play.slack.messages('refunds')).toEqual([]);
    expect(play.seen()).toContain('What you type is said to the agent in #refunds.');
  });

  it('keeps the call waiting when the player exits', async () => {
    const play = await openPlay();
    play.type('refund A-1042');
    await play.shows('Refund?');
    play.type('l');
    await play.over;
    expect(play.slack.messages('refunds').map(({ text }) => text)).toEqual([
      '<@U0HOLDPNT1> refund A-1042',
      'Refund?',
    ]);
  });

  it('reports a disconnected agent, and continues', async () => {
    const play = await openPlay();
    play.slack.socket.drop(false);
    await play.slack.connected(0);
    play.type('refund A-1042');
    await play.slack.until(() => (play.slack.messages('refunds').length === 1 ? true : undefined));
    play.type('quit');
    await play.over;
    expect(play.seen()).toContain('no app is connected to the fake Slack\n');
  });

  it('ends with the reason of the signal', async () => {
    const play = await openPlay();
    play.leave.abort(new Error('interrupted'));
    await expect(play.over).rejects.toThrow('interrupted');
  });
});
