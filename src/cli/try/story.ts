import { type RecordedEvent, tailLines } from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { CliError } from '../cli-error.ts';
import type { Output } from '../output.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { answerOf, deferralLines, statusText } from '../task/print-task.ts';
import type { DeferralJson, TaskJson } from '../task/read-answer.ts';
import type { Demo } from './demo.ts';
import { findOrder, type Order, readOrders } from './orders.ts';
import { proofOf } from './proof.ts';
import { RefundTask } from './refund-task.ts';
import { thinkerFailure, thinkingLine } from './thinker.ts';

const orderId = 'A-1042';
const request = `Please refund order ${orderId}, it arrived broken`;
const approver = 'ann@example.com';

/**
 * Plays a refund over HTTP from the request to the audit log, and checks each step. Throws CliError with the name of
 * the failed step. A model that requests no refund is not an error.
 */
export async function playStory({ output }: Session, demo: Demo): Promise<void> {
  const { heading, say } = narrator(output);
  say(`A refund agent runs at ${demo.url}, in ${demo.directory}.`);
  say(thinkingLine(demo.thinking));
  const before = await orderNow(demo);

  heading('A customer requests a refund and waits for the answer');
  say(`   POST /tasks/send  "${request}"`);
  const asked = new RefundTask(demo, request);
  const held: DeferralJson[] = [];
  for (let call = await nextHeld(output, asked); call !== null; ) {
    held.push(call);
    heading(headingOf(call, held.length));
    for (const line of deferralLines(call, Date.now())) say(` ${line}`);
    if (held.length === 1) {
      const now = await orderNow(demo);
      assertStep(now.row === before.row, 'the order changed before it was released');
      say('   data/orders.csv has not changed');
    }

    heading('A person releases it');
    say(`   POST /tasks/${asked.id}/decisions  {"decision":"approve","approver":"${approver}"}`);
    const status = await asked.approve(call, approver);
    assertStep(status === 'resolved', `the decision is ${status}`);
    call = await nextHeld(output, asked);
  }

  const task = await asked.answer;
  checkEnd(demo, task, held.length > 0);
  const after = await orderNow(demo);
  const isRefunded = after.status === 'refunded' && after.refundId !== '';
  if (held.length > 0) heading('The request is answered');
  else heading('The model answered without calling issue_refund, so nothing was held');
  say(`   ${answerOf(task)}`);
  if (isRefunded) {
    say(`   before  ${before.row}`);
    say(`   after   ${after.row}`);
  } else {
    assertStep(demo.thinking.thinker !== null, 'the order was not refunded');
    assertStep(after.row === before.row, 'the order changed without a refund');
    say('   data/orders.csv has not changed; models differ from run to run, so try again, or add');
    say('   --scripted to see a call held each time');
  }
  assertStep(held.length > 0 || !isRefunded, 'the order was refunded without having been held');

  heading('The log proves it');
  const events = await eventsOf(demo, asked.id);
  const { lines, fault, audit } = await proofOf(demo, asked.id, events);
  assertStep(fault === null, fault ?? '');
  for (const line of lines) say(`   ${line}`);
  const deferral = held[0] ?? null;
  output.json({ task, deferral, before: before.row, after: after.row, events, audit });
}

function narrator(output: Output) {
  let step = 0;
  return {
    heading: (text: string) => {
      step += 1;
      output.line(`\n${output.colours.bold(`${step}. ${text}`)}`);
    },
    say: (text: string) => output.line(text),
  };
}

function headingOf({ tool }: DeferralJson, count: number): string {
  if (count > 1) return `The agent calls ${tool} again; that call is held too`;
  return 'The agent has looked the order up and wants to pay; that call is held';
}

/** Waits for a held call. Shows progress during long waits, because a model may need a minute. */
async function nextHeld(output: Output, asked: RefundTask): Promise<DeferralJson | null> {
  const clear = showProgress(output, 'the agent thinks');
  return asked.nextHeld().finally(clear);
}

/**
 * A scripted task always completes and its refund is always held. A real model may fail or request a call that the tool
 * rejects.
 */
function checkEnd({ thinking: { thinker } }: Demo, task: TaskJson, wasHeld: boolean): void {
  if (thinker === null) assertStep(wasHeld, `the task is ${describe(task)}, and was never held`);
  if (task.status.state === 'completed') return;
  const sentence = `the task is ${describe(task)}`;
  if (thinker === null || wasHeld) throw failed(sentence);
  throw thinkerFailure(wrong(sentence), thinker);
}

async function orderNow({ directory }: Demo): Promise<Order> {
  const order = findOrder(await readOrders(directory), orderId);
  if (order === null) throw failed(`there is no order ${orderId}`);
  return order;
}

async function eventsOf({ auditPath: path }: Demo, task: string): Promise<RecordedEvent[]> {
  const lines = tailLines({ path, task, limit: 100, clock: systemClock() });
  return (await Array.fromAsync(lines)).flatMap(({ event }) => (event === null ? [] : [event]));
}

function describe(task: TaskJson): string {
  return `${task.status.state}: ${statusText(task)}`;
}

function assertStep(isRight: boolean, sentence: string): asserts isRight {
  if (!isRight) throw failed(sentence);
}

function failed(sentence: string): CliError {
  return new CliError(wrong(sentence), { code: 'story_failed' });
}

function wrong(sentence: string): string {
  return `the story went wrong: ${sentence}`;
}
