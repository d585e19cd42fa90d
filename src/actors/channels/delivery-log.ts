import type { ApprovalNotice } from '../../machines/channels/approval-notice.ts';
import type { DeliveryFailure } from '../../machines/channels/delivery-machine.ts';
import type { Log } from '../ports/log.ts';
import { asksForTime } from './quarantine.ts';

/** Maximum remembered failures; each is logged once. */
const mostRemembered = 1_000;

/**
 * Logs undelivered messages, each fault of a message once. A service that asks for time does not count as a failure:
 * this is logged once per target, until a message is delivered without a delay.
 */
export class DeliveryLog {
  readonly #log: Log;
  readonly #told = new Set<string>();
  readonly #slow = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Logs a failed attempt. */
  failed(position: number, notice: ApprovalNotice, failure: DeliveryFailure): void {
    const { fault, reason } = failure;
    if (asksForTime(failure)) return this.#pace(position, notice, reason);
    if (!this.#isNew(`${position}:${fault}`)) return;
    const isPostedAnew = fault === 'gone' && notice.outcome === null;
    const level = fault === 'later' || isPostedAnew ? 'warn' : 'error';
    const refused = fault === 'message' || fault === 'gone';
    const again = refused ? 'was refused for good' : 'is tried again';
    const outcome = isPostedAnew ? 'is posted anew' : again;
    this.#log[level](
      { ...placeOf(notice), error: reason },
      `approvals: a message about a held call was not delivered and ${outcome}; the call can be decided all the same`,
    );
  }

  /** Records a delivery, so that later failures are logged again. */
  delivered(position: number, { request }: ApprovalNotice): void {
    if (!this.#told.has(`${position}:pace`)) this.#slow.delete(request.target);
    this.forget(position);
  }

  /** Forgets a message that will not be retried. */
  forget(position: number): void {
    for (const kind of ['later', 'target', 'gone', 'message', 'pace']) {
      this.#told.delete(`${position}:${kind}`);
    }
  }

  /** Logs that a message will not be updated. */
  givenUp(notice: ApprovalNotice): void {
    this.#log.error(
      placeOf(notice),
      'approvals: a message about a held call could not be updated for an hour and is out of date; see the task instead',
    );
  }

  #pace(position: number, { request: { target } }: ApprovalNotice, reason: string): void {
    this.#isNew(`${position}:pace`);
    if (this.#slow.has(target)) return;
    this.#slow.add(target);
    this.#log.info(
      { target, error: reason },
      'approvals: a target is rate limited; messages are delayed',
    );
  }

  #isNew(key: string): boolean {
    if (this.#told.has(key)) return false;
    if (this.#told.size >= mostRemembered) this.#told.clear();
    this.#told.add(key);
    return true;
  }
}

function placeOf({ request }: ApprovalNotice): Record<string, string> {
  const { taskId, deferralId, target } = request;
  return { task_id: taskId, deferral_id: deferralId, target };
}
