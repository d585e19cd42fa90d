import { brief } from '../../../src/machines/brief.ts';
import { isJsonObject } from '../../../src/machines/json.ts';
import type { FakeSlack } from '../fake-slack-server.ts';
import type { FakeMessage, FakeView } from '../workspace/workspace.ts';
import { heldMessages } from './held-message.ts';
import { messageLines, paintView } from './paint-message.ts';
import { Question } from './question.ts';
import { SlackScreen } from './slack-screen.ts';
import type { LinePrompt, Terminal } from './terminal.ts';

/** A terminal interface for a fake Slack. */
export interface SlackPlay {
  terminal: Terminal;
  slack: FakeSlack;
  prompter: LinePrompt;
  /** The channel in which the user writes. */
  channel: string;
  /** Name of the user. */
  user: string;
  signal: AbortSignal;
}

/** Runs the user's commands in a fake Slack until the user leaves. Rejects with the signal's reason. */
export async function playSlack(play: SlackPlay): Promise<void> {
  const over = new AbortController();
  const question = new Question({ ...play, words: () => questionOf(play) });
  const screen = new SlackScreen(play.terminal, play.slack);
  const signal = AbortSignal.any([play.signal, over.signal]);
  const following = screen.follow(signal, {
    before: () => question.clear(),
    after: () => question.askAnew(),
  });
  try {
    for (;;) {
      const line = await question.ask();
      if (line === null || /^(l|leave|exit|quit)$/i.test(line.trim())) return;
      // An unacknowledged click is reported to the user and does not end the session.
      await answer(play, line.trim()).catch((error: unknown) => tell(play, error));
    }
  } finally {
    over.abort();
    await following;
  }
}

function questionOf({ slack, channel, terminal }: SlackPlay): string {
  const { length } = heldMessages(slack);
  const several = `${length} calls wait: approve or reject 1 to ${length}, or leave? `;
  const asked = length > 1 ? several : 'Approve, reject or leave? ';
  return terminal.colours.bold(length > 0 ? asked : `#${channel}> `);
}

async function answer(play: SlackPlay, line: string): Promise<void> {
  if (line === '') return;
  if (/^(h|help|\?)$/i.test(line)) return help(play);
  const held = heldMessages(play.slack);
  const decision = /^(?:(a|approve|y|yes)|r|reject|n|no)(?:\s+(\d+))?$/i.exec(line);
  if (decision !== null && held.length > 0) {
    const [, approval, number] = decision;
    const message =
      number === undefined && held.length > 1 ? undefined : held[Number(number ?? 1) - 1];
    if (message === undefined) return which(play, held);
    return approval === undefined ? reject(play, message) : approve(play, message);
  }
  const { slack, channel, user } = play;
  await slack.mention({ channel, user, text: line });
}

function help({ terminal, channel }: SlackPlay): void {
  terminal.line(
    `What you type is said to the agent in #${channel}. While a call waits: a or approve, r or reject,`,
  );
  terminal.line('with its number when several do. leave, or Ctrl-D, ends this.');
}

/** Lists the held calls so that the user can name one. */
function which({ terminal, slack }: SlackPlay, held: readonly FakeMessage[]): void {
  for (const [index, message] of held.entries()) {
    const words = messageLines(message, slack.workspace).map(({ text }) => text);
    terminal.line(`  ${index + 1}  ${brief(words.join(' '), 100)}`);
  }
  terminal.line(`Which one? Say a 1 or r 1, up to ${held.length}.`);
}

async function approve(play: SlackPlay, message: FakeMessage): Promise<void> {
  const { slack, user } = play;
  const { channel, ts } = message;
  const click = { channel, ts, action: 'Approve', user };
  await untilShown(play, message, () => slack.click(click));
}

async function reject(play: SlackPlay, message: FakeMessage): Promise<void> {
  const { slack, user, signal, terminal, prompter } = play;
  const { channel, ts } = message;
  const modals = slack.views.length;
  const click = { channel, ts, action: 'Reject', user };
  const isAsked = (): boolean => slack.views.length > modals;
  await untilShown(play, message, () => slack.click(click), isAsked);
  const view = slack.views[modals];
  if (view === undefined) return;
  terminal.line();
  for (const line of paintView(terminal, view, slack.workspace)) terminal.line(line);
  const reason = await prompter.ask(() => 'Reason (may be empty): ', signal);
  if (reason === null) return void (await slack.closeView(view));
  const values = valuesOf(view, reason.trim());
  await untilShown(play, message, () => slack.submit(view, { values }));
}

/** Fills every field of a modal with a string. Approval modals have one field. */
function valuesOf({ content }: FakeView, text: string): Record<string, string> {
  const blocks = Array.isArray(content['blocks']) ? content['blocks'] : [];
  const fields = blocks.flatMap((block) => {
    const element = isJsonObject(block) ? block['element'] : undefined;
    const id = isJsonObject(element) ? element['action_id'] : undefined;
    return typeof id === 'string' ? [id] : [];
  });
  return Object.fromEntries(fields.map((id) => [id, text]));
}

/**
 * Acts on a message and waits for the visible effect: an edit of the message, an ephemeral message, or `isSeen`.
 */
async function untilShown(
  { slack, signal }: SlackPlay,
  message: FakeMessage,
  act: () => Promise<unknown>,
  isSeen: () => boolean = () => false,
): Promise<void> {
  const { edits } = message;
  const whispers = (): number =>
    slack.workspace.messages.filter(({ onlyFor }) => onlyFor !== null).length;
  const before = whispers();
  await act();
  const shows = (): true | undefined =>
    message.edits !== edits || whispers() > before || isSeen() || undefined;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestWait)]);
  await slack.until(shows, limit).catch(() => undefined);
}

/** Timeout in milliseconds for the effect of a click. */
const longestWait = 5_000;

function tell({ terminal, signal }: SlackPlay, error: unknown): void {
  if (signal.aborted) throw signal.reason;
  terminal.note(error instanceof Error ? error.message : String(error));
}
