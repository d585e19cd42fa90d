import { systemClock } from '../../actors/clock.ts';
import {
  formatEvent,
  type RecordedEvent,
  tailLines,
  verdictSentence,
  verifyFiles,
} from '../../actors/records/records.ts';
import { CliError } from '../cli-error.ts';
import type { Output } from '../output.ts';
import type { Session } from '../session.ts';
import { answerOf, deferralLines, statusText } from '../task/print-task.ts';
import { pendingDeferral } from '../task/task-get.ts';
import { type DeferralJson, readAnswer, type TaskJson } from '../task/task-shape.ts';
import type { Demo } from './demo.ts';
import { findOrder, type Order, readOrders } from './orders.ts';
import { scriptFor } from './refund-script.ts';
import { untilDeferred } from './until-deferred.ts';

const taskId = 'refund-1';
const orderId = 'A-1042';
const request = `Please refund order ${orderId}, it arrived broken`;
const approver = 'ann@example.com';

/**
 * Plays a refund from the request to the audit log over HTTP, and checks each step. Throws a
 * CliError that says which step went wrong.
 */
export async function playStory({ output }: Session, demo: Demo): Promise<void> {
  const { heading, say } = narrator(output);
  say(`A refund agent runs at ${demo.url}, in ${demo.directory}.`);
  say('No language model is involved: a script plays its part, everything else is real.');
  const before = await orderNow(demo);

  heading('1. Somebody asks for a refund, and waits for the answer');
  say(`   POST /tasks/send  "${request}"`);
  const held = sendHeld(demo);
  const deferral = await untilHeld(demo, held);

  heading('2. The agent has looked the order up and wants to pay; that call is held');
  for (const line of deferralLines(deferral, Date.now())) say(` ${line}`);
  assertStep((await orderNow(demo)).row === before.row, 'the order changed before it was released');
  say('   data/orders.csv has not changed');

  heading('3. A person releases it');
  say(`   POST /tasks/${taskId}/decisions  {"decision":"approve","approver":"${approver}"}`);
  await approve(demo, deferral);

  heading('4. The request is answered');
  const task = await held.answer;
  assertStep(task.status.state === 'completed', `the task is ${describe(task)}`);
  say(`   ${answerOf(task)}`);
  const after = await orderNow(demo);
  assertStep(after.status === 'refunded' && after.refundId !== '', 'the order was not refunded');
  say(`   before  ${before.row}`);
  say(`   after   ${after.row}`);

  heading('5. The audit log has it all');
  const events = await eventsOf(demo);
  for (const event of events) say(`   ${formatEvent(event)}`);
  const verdict = await verifyFiles([demo.auditPath]);
  assertStep(verdict.ok, verdictSentence(verdict));
  say(`   ${verdictSentence(verdict)}`);
  output.json({ task, deferral, before: before.row, after: after.row, events, audit: verdict });
}

function narrator(output: Output) {
  return {
    heading: (text: string) => output.line(`\n${output.colours.bold(text)}`),
    say: (text: string) => output.line(text),
  };
}

interface HeldSend {
  answer: Promise<TaskJson>;
}

function sendHeld({ client, directory, signal }: Demo): HeldSend {
  const answer = readOrders(directory).then(async (orders) => {
    const parts = [
      { kind: 'text', text: request },
      { kind: 'data', data: { script: scriptFor(request, orders) } },
    ];
    const body = { task: { id: taskId, message: { role: 'user', parts } } };
    const call = { method: 'POST', path: '/tasks/send', body, taskId, signal } as const;
    return readAnswer.task(await client.json(call));
  });
  // It is awaited later; until then a failure must not count as unhandled.
  answer.catch(() => undefined);
  return { answer };
}

/** Waits until the task is held; a send that is answered before that is a failure. */
async function untilHeld({ client, signal }: Demo, { answer }: HeldSend): Promise<DeferralJson> {
  const early = new AbortController();
  const tooSoon = answer.then((task) => {
    throw failed(`the task is ${describe(task)} without having been held`);
  });
  const watching = { agent: client, signal: AbortSignal.any([signal, early.signal]) };
  try {
    const task = await Promise.race([untilDeferred(watching, taskId), tooSoon]);
    const deferral = await pendingDeferral(watching, task);
    if (deferral === null) throw failed('the held call cannot be looked at');
    return deferral;
  } finally {
    early.abort();
    tooSoon.catch(() => undefined);
  }
}

async function approve({ client, signal }: Demo, deferral: DeferralJson): Promise<void> {
  const path = `/tasks/${taskId}/decisions`;
  const { id: deferral_id, args_sha256 } = deferral;
  const body = { decision: 'approve', approver, deferral_id, args_sha256 };
  const answer = readAnswer.decision(await client.json({ method: 'POST', path, body, signal }));
  assertStep(answer.status === 'resolved', `the decision is ${answer.status}`);
}

async function orderNow({ directory }: Demo): Promise<Order> {
  const order = findOrder(await readOrders(directory), orderId);
  if (order === null) throw failed(`there is no order ${orderId}`);
  return order;
}

async function eventsOf({ auditPath }: Demo): Promise<RecordedEvent[]> {
  const path = auditPath;
  const lines = tailLines({ path, task: taskId, limit: 100, clock: systemClock() });
  return (await Array.fromAsync(lines)).flatMap(({ event }) => (event === null ? [] : [event]));
}

function describe(task: TaskJson): string {
  return `${task.status.state}: ${statusText(task)}`;
}

function assertStep(isRight: boolean, sentence: string): asserts isRight {
  if (!isRight) throw failed(sentence);
}

function failed(sentence: string): CliError {
  return new CliError(`the story went wrong: ${sentence}`, { code: 'story_failed' });
}
