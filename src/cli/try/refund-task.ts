import { setTimeout as pause } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import { untilDeferred } from '../demo/until-deferred.ts';
import { type DeferralJson, readAnswer, type TaskJson } from '../task/read-answer.ts';
import { pendingDeferral } from '../task/task-get.ts';
import type { Demo } from './demo.ts';
import { messageParts } from './message-parts.ts';

/** Milliseconds between two checks of a task whose held call is not visible yet. */
const pauseBetween = 50;

/** A demo task whose request stays open. */
export class RefundTask {
  readonly id = 'refund-1';
  /** The task returned by the open request. */
  readonly answer: Promise<TaskJson>;
  readonly #demo: Demo;
  readonly #seen = new Set<string>();

  /** Sends `request` and keeps the HTTP request open. */
  constructor(demo: Demo, request: string) {
    this.#demo = demo;
    this.answer = this.#send(request);
    // Awaited later; until then, a rejection must not count as unhandled.
    this.answer.catch(() => undefined);
  }

  /** Waits for a held call that was not returned before; returns `null` if the task ends without one. */
  async nextHeld(): Promise<DeferralJson | null> {
    const { client, signal } = this.#demo;
    const over = new AbortController();
    const watching = { agent: client, signal: AbortSignal.any([signal, over.signal]) };
    const ended = this.answer.then(() => null);
    try {
      for (;;) {
        const task = await Promise.race([ended, untilDeferredOrEnd(watching, this.id)]);
        const deferral = task === null ? null : await pendingDeferral(watching, task);
        if (task === null) return null;
        if (deferral !== null && !this.#seen.has(deferral.id)) {
          this.#seen.add(deferral.id);
          return deferral;
        }
        await pause(pauseBetween, undefined, { signal });
      }
    } finally {
      over.abort();
      ended.catch(() => undefined);
    }
  }

  /** Releases a held call; returns the status of the decision. */
  async approve(deferral: DeferralJson, approver: string): Promise<string> {
    const { client, signal } = this.#demo;
    const { id: deferral_id, args_sha256 } = deferral;
    const body = { decision: 'approve', approver, deferral_id, args_sha256 };
    const path = `/tasks/${this.id}/decisions`;
    return readAnswer.decision(await client.json({ method: 'POST', path, body, signal })).status;
  }

  async #send(request: string): Promise<TaskJson> {
    const { client, signal } = this.#demo;
    const parts = await messageParts(request, this.#demo);
    const body = { task: { id: this.id, message: { role: 'user', parts } } };
    const call = { method: 'POST', path: '/tasks/send', body, taskId: this.id, signal } as const;
    return readAnswer.task(await client.json(call));
  }
}

async function untilDeferredOrEnd(
  watching: Parameters<typeof untilDeferred>[0],
  id: string,
): Promise<TaskJson | null> {
  try {
    return await untilDeferred(watching, id);
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_held') return null;
    throw error;
  }
}
