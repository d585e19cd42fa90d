import { verdictSentence, verifyFiles } from '../../../src/actors/records/records.ts';
import { CliError } from '../../../src/cli/cli-error.ts';
import type { Session } from '../../../src/cli/session.ts';
import type { Demo } from '../../../src/cli/try/demo.ts';
import { findOrder, type Order, readOrders } from '../../../src/cli/try/orders.ts';
import { thinkingLine } from '../../../src/cli/try/thinker.ts';
import {
  type FakeMessage,
  type FakeSlack,
  heldMessage,
  messageLines,
  SlackScreen,
} from '../fake-slack.ts';
import { demoChannel } from './slack-demo-files.ts';

const orderId = 'A-1042';
const request = `Please refund order ${orderId}, it arrived broken`;

/** Timeout in milliseconds for one step of the story. */
const longestStep = 30_000;

export interface SlackStage {
  demo: Demo;
  slack: FakeSlack;
}

/**
 * Plays a refund in a fake Slack from the mention to the answer, and checks each step. Throws CliError with the name of
 * the failed step.
 */
export async function playSlackStory({ output }: Session, stage: SlackStage): Promise<void> {
  const { demo, slack } = stage;
  const screen = new SlackScreen(output, slack);
  const heading = (text: string): void => output.line(`\n${output.colours.bold(text)}`);
  output.line(
    `A refund agent runs at ${demo.url}, and a Slack on this machine at ${slack.apiUrl}.`,
  );
  output.line(thinkingLine(demo.thinking));
  const before = await orderNow(demo);
  await step(stage, 'the agent did not connect', () => slack.connections > 0 || undefined);

  heading(`1. Ann asks for a refund in #${demoChannel}`);
  await slack.mention({ channel: demoChannel, user: 'ann', text: request });
  const asked = slack.messages(demoChannel).findLast(({ user }) => !isBot(slack, user));
  screen.draw();

  heading('2. The agent wants to pay; the call is held, and the channel is asked');
  const held = await step(stage, 'no approver was notified', () => heldMessage(slack));
  const question = wordsOf(held, slack);
  screen.draw();
  assertStep((await orderNow(demo)).row === before.row, 'the order changed before its release');

  heading('3. Bob clicks Approve; the message shows it, and its buttons disappear');
  await slack.click({ channel: held.channel, ts: held.ts, action: 'Approve', user: 'bob' });
  await step(
    stage,
    'the message was not changed',
    () => heldMessage(slack) === undefined || undefined,
  );
  const outcome = wordsOf(held, slack);
  screen.draw();

  heading('4. The agent answers in the thread');
  const answer = await step(stage, 'nobody answered', () => answerTo(slack, asked));
  await step(stage, 'the mention is not marked as done', () => isDone(asked) || undefined);
  screen.draw();
  const after = await orderNow(demo);
  assertStep(after.status === 'refunded' && after.refundId !== '', 'the order was not refunded');
  output.line(`  before  ${before.row}`);
  output.line(`  after   ${after.row}`);

  const audit = await verifyFiles([demo.auditPath]);
  assertStep(audit.ok, verdictSentence(audit));
  output.line(`\n  ${verdictSentence(audit)}`);
  const rows = { before: before.row, after: after.row };
  output.json({ request, question, outcome, answer: wordsOf(answer, slack), ...rows, audit });
}

function answerTo(slack: FakeSlack, asked: FakeMessage | undefined): FakeMessage | undefined {
  return slack
    .messages(demoChannel)
    .find(
      ({ user, threadTs, text }) =>
        isBot(slack, user) && threadTs === asked?.ts && text.includes(orderId),
    );
}

function isDone(asked: FakeMessage | undefined): boolean {
  return asked?.reactions.join() === 'white_check_mark';
}

function isBot({ workspace }: FakeSlack, user: string): boolean {
  return user === workspace.botUserId;
}

function wordsOf(message: FakeMessage, { workspace }: FakeSlack): string[] {
  return messageLines(message, workspace).map(({ text }) => text);
}

/** Waits for `find`. Throws `otherwise` after the time limit, and the signal's reason when aborted. */
async function step<T>(
  { demo, slack }: SlackStage,
  otherwise: string,
  find: () => T | undefined,
): Promise<T> {
  const limit = AbortSignal.timeout(longestStep);
  try {
    return await slack.until(find, AbortSignal.any([demo.signal, limit]));
  } catch (error) {
    throw error === limit.reason ? failed(otherwise) : error;
  }
}

async function orderNow({ directory }: Demo): Promise<Order> {
  const order = findOrder(await readOrders(directory), orderId);
  if (order === null) throw failed(`there is no order ${orderId}`);
  return order;
}

function assertStep(isRight: boolean, sentence: string): asserts isRight {
  if (!isRight) throw failed(sentence);
}

function failed(sentence: string): CliError {
  return new CliError(`the story went wrong: ${sentence}`, { code: 'story_failed' });
}
