import type { Clock } from '../../actors/ports/clock.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { openHoldFor } from '../open-task.ts';
import { preferredWait } from '../prefer.ts';
import type { RoutedContext } from '../request-state.ts';
import { waitForHold } from '../wait-for-hold.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { holdStatus, presentHold, readHold, readOutcome, retryAfter } from '../wire/hold.ts';
import { Problem } from '../wire/problem.ts';

/** Path of the holds. */
export const holdsPath = '/holds';

/** `POST /holds`: asks for a call that the caller runs itself (docs/gate.md). */
export function holdsAsk({ clock, outcomeWithin }: { clock: Clock; outcomeWithin: number }) {
  return async function ask(ctx: RoutedContext) {
    const asked = readHold(ctx.request.body);
    const within = preferredWait(ctx, 0, longestWait);
    const { id, isSame } = await openHoldFor(ctx.state, { ...asked, outcomeWithin });
    if (!isSame) {
      throw new Problem(409, {
        error: `the key ${asked.key} belongs to a hold of another call; choose another key`,
        hold_id: id,
      });
    }
    await answerHold(ctx, id, { clock, within });
  };
}

/** `GET /holds/{id}`: a hold of the caller, once it is decided or the wait is over (docs/gate.md). */
export function holdsGet({ clock }: { clock: Clock }) {
  return async function get(ctx: RoutedContext) {
    const { wait } = ctx.query;
    const within = wait === undefined ? preferredWait(ctx, 0, longestWait) : readSeconds(wait);
    await answerHold(ctx, (await ownHold(ctx)).id, { clock, within });
  };
}

/** `POST /holds/{id}/outcome`: reports the end of a call that the caller ran (docs/gate.md). */
export function holdsOutcome() {
  return async function report(ctx: RoutedContext) {
    const outcome = readOutcome(ctx.request.body);
    const { id } = await ownHold(ctx);
    const answer = await ctx.state.tasks.closeHold(id, outcome);
    if (answer.kind === 'unknown') throw unknownHold();
    if (answer.kind === 'notGranted') {
      const status = holdStatus(answer.task);
      throw new Problem(409, {
        error: `the call may not run, since its hold is ${status}`,
        status,
      });
    }
    if (answer.kind === 'notReceived') {
      const error = 'the call was not received yet; GET the hold before its call runs';
      throw new Problem(409, { error });
    }
    const body = presentHold(answer.task, { isTaken: true });
    if (answer.kind === 'differs') {
      const error = 'the hold has another outcome, and only the first one counts';
      throw new Problem(409, { error, outcome: body.outcome ?? null });
    }
    ctx.body = body;
  };
}

/** `DELETE /holds/{id}`: cancels a hold that waits; a decided one is returned unchanged (docs/gate.md). */
export function holdsCancel() {
  return async function cancel(ctx: RoutedContext) {
    const { id } = await ownHold(ctx);
    const reason = readCancelReason(ctx.request.body);
    const task = await ctx.state.tasks.cancel(id, reason);
    if (task === undefined) throw unknownHold();
    ctx.body = presentHold(task, { isTaken: isTaken(task) });
  };
}

/** Answers with a hold once it is decided, or waits. The first answer with an approved call releases it. */
async function answerHold(
  ctx: RoutedContext,
  id: string,
  waiting: { clock: Clock; within: number },
): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  ctx.res.once('close', leave);
  try {
    const task = await waitForHold(ctx.state.tasks, id, gone.signal, waiting);
    const isGranted = task.hold?.account?.state === 'granted';
    gone.signal.throwIfAborted();
    // A HEAD request receives no call.
    const isReceived = isGranted && ctx.method !== 'HEAD';
    const isFirst = isReceived && (await ctx.state.tasks.takeHold(id));
    ctx.body = presentHold(task, { isTaken: isReceived ? !isFirst : isTaken(task) });
    if (isFinal(task.state)) return;
    ctx.status = 202;
    ctx.set('Location', `${holdsPath}/${id}`);
    ctx.set('Retry-After', String(retryAfter));
  } catch (error) {
    // Nobody receives an answer, so the call stays unreleased.
    if (gone.signal.aborted) ctx.respond = false;
    else throw error;
  } finally {
    ctx.res.off('close', leave);
  }
}

/** Returns whether the program of an approved call received it before, or the call is over. */
function isTaken({ hold }: Task): boolean {
  const { granted, account } = hold ?? {};
  if (account?.state === 'closed') return true;
  return granted?.deferralId !== undefined && account?.state !== 'granted';
}

async function ownHold(ctx: RoutedContext): Promise<Task> {
  const { id } = ctx.params;
  const task = isTaskId(id) ? await ctx.state.tasks.findOwn(id) : undefined;
  if (task?.hold === undefined) throw unknownHold();
  return task;
}

function unknownHold(): Problem {
  return new Problem(404, { error: 'hold not found' });
}

/** Maximum wait of a request, in seconds. */
const longestWait = 60;

function readSeconds(wait: string | string[]): number {
  if (typeof wait !== 'string' || !/^\d{1,9}$/.test(wait)) {
    throw new Problem(400, { error: 'wait must be a number of whole seconds, such as wait=30' });
  }
  return Math.min(Number(wait), longestWait) * 1_000;
}
