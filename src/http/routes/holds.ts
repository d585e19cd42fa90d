import { z } from 'zod';
import type { Clock } from '../../actors/ports/clock.ts';
import { SystemError } from '../../actors/system-error.ts';
import type { HoldTimes } from '../../machines/domain/hold.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { isReceivedElsewhere } from '../../machines/task/held-elsewhere.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { readJson } from '../middleware/read-json.ts';
import { openHoldFor } from '../open-task.ts';
import { eventStream, holding, json, type Parameter } from '../openapi/operation.ts';
import { preferredWait } from '../prefer.ts';
import type { RoutedContext } from '../request-state.ts';
import { receiveHold, waitForHold } from '../wait-for-hold.ts';
import { heldInvocation } from '../wire/admission.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { decision, noDecision } from '../wire/decision.ts';
import {
  hold,
  holdOutcome,
  holdRequest,
  holdStatus,
  presentHold,
  readClaim,
  readHold,
  readOutcome,
  retryAfter,
} from '../wire/hold.ts';
import { Problem, refusal } from '../wire/problem.ts';
import { EventStream } from '../wire/sse.ts';
import { decisionResponses, decisions } from './decisions.ts';
import type { Routes } from './route.ts';

const noHold = holding('The caller has no hold of this id.', refusal, {
  example: { error: 'hold not found', code: 'hold_not_found' },
});

const wait: Parameter = {
  name: 'wait',
  in: 'query',
  says: 'Seconds to wait for a decision, at most 60.',
  schema: z.int().min(0),
};

const claimed: Parameter = {
  name: 'claim',
  in: 'query',
  says: 'Identifies the process that asks. The process that released the call gets released: false again.',
  schema: z.string().max(128),
};

const exampleHold = {
  key: 's-1:toolu_01',
  tool: 'Bash',
  args: { command: 'rm -rf build' },
  agent: 'claude-code',
  session: 's-1',
};

type HoldPorts = { clock: Clock } & HoldTimes;

/** The routes of holds (docs/gate.md). */
export const holdRoutes = (ports: HoldPorts): Routes => ({
  'POST /holds': {
    id: 'askHold',
    tag: 'holds',
    says: 'Asks for a call that the caller runs itself. With the header Prefer: wait=N the request waits up to N seconds for a decision, at most 60.',
    body: { schema: holdRequest, types: [json], example: exampleHold },
    answers: {
      200: holding('The decision. The first answer with an approved call releases it.', hold),
      202: holding('The call waits for a person.', hold, {
        headers: { Location: 'The hold.', 'Retry-After': 'Seconds until the next request.' },
      }),
      400: holding('The body is malformed; the error says where.', refusal),
      409: holding('The key belongs to a hold of another call.', refusal),
      429: holding('Too many calls of the caller wait.', refusal),
    },
    admits: heldInvocation,
    answer: holdsAsk(ports),
  },
  'GET /holds/:id': {
    id: 'getHold',
    tag: 'holds',
    says: 'Shows a hold of the caller. With Accept: text/event-stream it streams status while the call waits, then result, which releases an approved call, or refused.',
    parameters: [wait, claimed],
    answers: {
      200: {
        says: 'The decision, or events until there is one.',
        content: { [json]: hold, [eventStream]: null },
        events: { status: hold, result: hold, refused: refusal },
      },
      202: holding('The call waits for a person.', hold),
      400: holding('wait is not a number, or claim is malformed.', refusal),
      404: noHold,
    },
    answer: holdsGet(ports),
  },
  'POST /holds/:id/outcome': {
    id: 'reportOutcome',
    tag: 'holds',
    says: 'Reports the end of a call that the caller ran. Only the first outcome counts.',
    body: { schema: holdOutcome, types: [json], example: { status: 'succeeded' } },
    answers: {
      200: holding('The hold with its outcome.', hold),
      400: holding('The body is malformed; the error says where.', refusal),
      404: noHold,
      409: holding('The call may not run, or the hold has another outcome.', refusal),
    },
    answer: reportOutcome,
  },
  'POST /holds/:id/decisions': {
    id: 'decideHold',
    tag: 'holds',
    says: 'Approves or rejects the call of a hold, as POST /tasks/{id}/decisions does.',
    body: { schema: decision, types: [json], example: { decision: 'approve' } },
    answers: decisionResponses,
    before: [readJson({ malformed: noDecision })],
    answer: decisions(ports),
  },
  'DELETE /holds/:id': {
    id: 'cancelHold',
    tag: 'holds',
    says: 'Cancels a hold that waits; a decided one stays as it is.',
    answers: { 200: holding('The hold.', hold), 404: noHold },
    before: [readJson()],
    answer: cancelHold,
  },
});

function holdsAsk({ clock, ...times }: HoldPorts) {
  return async function ask(ctx: RoutedContext) {
    const asked = readHold(ctx.request.body);
    const within = preferredWait(ctx, 0, longestWait);
    const { id, isSame, isNew } = await openHoldFor(ctx.state, { ...asked, ...times });
    if (!isSame) {
      throw new Problem(
        'idempotency_key_reused',
        `the key ${asked.key} belongs to a hold of another call; choose another key`,
        { hold_id: id },
      );
    }
    await answerHold(ctx, id, { clock, within, isNew, claim: asked.claim });
  };
}

function holdsGet({ clock }: HoldPorts) {
  return async function get(ctx: RoutedContext) {
    const { wait } = ctx.query;
    const claim = readClaim(ctx.query['claim']);
    const within = wait === undefined ? preferredWait(ctx, 0, longestWait) : readSeconds(wait);
    if (ctx.accepts('json', eventStream) === eventStream) {
      return streamHold(ctx, await ownHold(ctx), claim);
    }
    await answerHold(ctx, (await ownHold(ctx)).id, { clock, within, isNew: false, claim });
  };
}

async function reportOutcome(ctx: RoutedContext): Promise<void> {
  const outcome = readOutcome(ctx.request.body);
  const { id } = await ownHold(ctx);
  const answer = await ctx.state.tasks.closeHold(id, outcome);
  if (answer.kind === 'unknown') throw unknownHold();
  if (answer.kind === 'notGranted') {
    const status = holdStatus(answer.task);
    throw new Problem('call_not_approved', `the call may not run, since its hold is ${status}`, {
      status,
    });
  }
  if (answer.kind === 'notReceived') {
    const error = 'the call was not received yet; GET the hold before its call runs';
    throw new Problem('call_not_received', error);
  }
  const body = presentHold(answer.task, { isTaken: true });
  if (answer.kind === 'differs') {
    const error = 'the hold has another outcome, and only the first one counts';
    throw new Problem('outcome_differs', error, { outcome: body.outcome ?? null });
  }
  ctx.body = body;
}

async function cancelHold(ctx: RoutedContext): Promise<void> {
  const { id } = await ownHold(ctx);
  const reason = readCancelReason(ctx.request.body);
  const task = await ctx.state.tasks.cancel(id, reason);
  if (task === undefined) throw unknownHold();
  const { args, ...body } = presentHold(task, { isTaken: isTaken(task) });
  // This answer releases no call.
  const isUnreleased = task.hold?.account?.state === 'granted';
  ctx.body = args === undefined || isUnreleased ? body : { ...body, args };
}

interface Asking {
  clock: Clock;
  within: number;
  /** True if this request started the hold. */
  isNew: boolean;
  claim: string | undefined;
}

/** Answers with a hold once it is decided, or waits. The first answer with an approved call releases it. */
async function answerHold(
  ctx: RoutedContext,
  id: string,
  { isNew, claim, ...waiting }: Asking,
): Promise<void> {
  const decided = await waitForHold(ctx, id, waiting);
  if (decided === null) return;
  // A HEAD request receives no call.
  ctx.body = await received(ctx, decided, { isNew, claim, isReader: ctx.method !== 'HEAD' });
  if (isFinal(decided.state)) return;
  ctx.status = 202;
  ctx.set('Location', `/holds/${id}`);
  ctx.set('Retry-After', String(retryAfter));
}

/** Records that a process receives an approved call, and formats the hold for it. */
async function received(
  ctx: RoutedContext,
  decided: Task,
  { isNew, claim, isReader }: Pick<Asking, 'isNew' | 'claim'> & { isReader: boolean },
) {
  const { task, isFirst } = isReader
    ? await receiveHold(ctx, decided, claim)
    : { task: decided, isFirst: false };
  const isNewAndAllowed = isNew && task.hold?.granted?.deferralId === undefined;
  return presentHold(task, { isTaken: !isFirst && !isNewAndAllowed && isTaken(task, claim) });
}

/**
 * Streams a hold until it is decided: `status` for each change while it waits, then `result`, which releases an
 * approved call. A client that leaves releases nothing, and neither does HEAD.
 */
async function streamHold(ctx: RoutedContext, hold: Task, claim: string | undefined) {
  const gone = new AbortController();
  const events = new EventStream(ctx, () => gone.abort());
  if (ctx.method === 'HEAD') return;
  let shown = '';
  const show = (task: Task): void => {
    if (isFinal(task.state)) return;
    const data = presentHold(task, { isTaken: false });
    const text = JSON.stringify(data);
    if (text === shown) return;
    shown = text;
    events.send({ event: 'status', data });
  };
  try {
    const decided = await ctx.state.tasks.settled(hold.id, gone.signal, show);
    gone.signal.throwIfAborted();
    const data = await received(ctx, decided, { isNew: false, claim, isReader: true });
    events.finish([{ event: 'result', data }]);
  } catch (error) {
    if (error instanceof Problem) events.finish([{ event: 'refused', data: error.body }]);
    else if (error instanceof SystemError || gone.signal.aborted) events.end();
    else throw error;
  }
}

/** Returns whether another process received the call before, or the call is over. */
function isTaken({ hold }: Task, claim?: string): boolean {
  const { account } = hold ?? {};
  if (account === undefined) return false;
  return account.outcome !== null || isReceivedElsewhere(account, claim);
}

async function ownHold(ctx: RoutedContext): Promise<Task> {
  const { id } = ctx.params;
  const task = isTaskId(id) ? await ctx.state.tasks.findOwn(id) : undefined;
  if (task?.hold === undefined) throw unknownHold();
  return task;
}

function unknownHold(): Problem {
  return new Problem('hold_not_found', 'hold not found');
}

/** Maximum wait of a request, in seconds. */
const longestWait = 60;

function readSeconds(wait: string | string[]): number {
  if (typeof wait !== 'string' || !/^\d{1,9}$/.test(wait)) {
    throw new Problem('invalid_query', 'wait must be a number of whole seconds, such as wait=30');
  }
  return Math.min(Number(wait), longestWait) * 1_000;
}
