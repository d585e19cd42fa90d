import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import { pushDeliveryMachine } from '../../../machines/push/push-delivery-machine.ts';
import { isFinal, type Task } from '../../../machines/task/task.ts';
import {
  type Clock,
  type EgressScope,
  type Log,
  type PushNotification,
  type PushTarget,
  PushTargetError,
  type PushTargets,
  type ScopedOutbound,
} from '../../ports.ts';
import type { PushRows } from '../../records/records.ts';
import { PostTurns } from './post-turns.ts';
import { targetFault } from './target-fault.ts';

/** What a receiver is called through. */
export interface PushEgress extends ScopedOutbound {
  /** Returns why a URL may not be called for a scope, as far as can be told without calling it; `null` when it may. */
  refusalOf(url: URL, scope: EgressScope): Promise<string | null>;
}

export interface PushOptions {
  rows: PushRows;
  /** Returns a task as it stands on disk. */
  find: (id: string) => Task | undefined;
  /** Puts a task into the words of a version of A2A. */
  write: (task: Task, version: string) => Promise<PushNotification>;
  /** Checks every URL when it is set and each time it is called. */
  egress: PushEgress;
  clock: Clock;
  log: Log;
}

/** How long a receiver may take, in milliseconds. */
const patience = 10_000;

const mostTargets = 16;

type Delivery = ActorRefFrom<typeof pushDeliveryMachine>;

/** Delivers push notifications to the receivers of tasks, also after a restart. */
export class PushNotifications implements PushTargets {
  readonly #options: PushOptions;
  readonly #deliveries = new Map<string, Map<string, Delivery>>();
  /** After a restart thousands of receivers may be behind. */
  readonly #turns = new PostTurns();
  #isStopped = false;

  constructor(options: PushOptions) {
    this.#options = options;
  }

  /** Resumes the receivers that do not know yet how their task ended. */
  start(): void {
    const { rows, find } = this.#options;
    rows.deleteOrphans();
    for (const { target, told } of rows.open()) {
      const task = find(target.taskId);
      // Who was told of a change since the daemon began to answer is up to date.
      if (this.#deliveries.get(target.taskId)?.has(target.id)) continue;
      const delivery = this.#deliver(target);
      if (task !== undefined && task.revision > told) delivery.send({ type: 'task.changed', task });
    }
  }

  async set(target: PushTarget): Promise<PushTarget> {
    const { rows, find } = this.#options;
    await this.#vet(target);
    const others = rows.list(target.taskId).filter(({ id }) => id !== target.id);
    if (others.length >= mostTargets) {
      throw new PushTargetError(`a task may have ${mostTargets} push notification configs at most`);
    }
    const task = find(target.taskId);
    const isBehind = this.#forget(target);
    rows.put(target, task?.revision ?? 0);
    if (task !== undefined && isFinal(task.state) && !isBehind) {
      rows.keepTold(target, task.revision, true);
      return target;
    }
    const delivery = this.#deliver(target);
    if (task !== undefined && isBehind) delivery.send({ type: 'task.changed', task });
    return target;
  }

  find(taskId: string, id: string): PushTarget | undefined {
    return this.#options.rows.find(taskId, id);
  }

  list(taskId: string): PushTarget[] {
    return this.#options.rows.list(taskId);
  }

  delete(taskId: string, id: string): boolean {
    this.#forget({ taskId, id });
    return this.#options.rows.delete(taskId, id);
  }

  /** Notifies the receivers of a task of a change that is on disk. */
  changed(task: Task): void {
    if (this.#isStopped) return;
    // A task that ended may run again; then its receivers are told again.
    if (!this.#deliveries.has(task.id)) this.#attempt(task.id, () => this.#resume(task.id));
    for (const delivery of this.#deliveries.get(task.id)?.values() ?? []) {
      delivery.send({ type: 'task.changed', task });
    }
  }

  /** Stops every delivery; the next start resumes them. */
  stop(): void {
    this.#isStopped = true;
    for (const deliveries of this.#deliveries.values()) {
      for (const delivery of deliveries.values()) delivery.stop();
    }
    this.#deliveries.clear();
  }

  async #vet(target: PushTarget): Promise<void> {
    const fault =
      targetFault(target) ??
      (await this.#options.egress.refusalOf(new URL(target.url), scopeOf(target)));
    if (fault !== null) throw new PushTargetError(fault);
  }

  #resume(taskId: string): void {
    for (const target of this.#options.rows.list(taskId)) this.#deliver(target);
  }

  /** Logs a failure of the store, which must end neither the task nor other deliveries. */
  #attempt(taskId: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#options.log.error({ error, task_id: taskId }, 'push: the store failed');
    }
  }

  #deliver(target: PushTarget): Delivery {
    const { clock, log } = this.#options;
    const { taskId, id } = target;
    const delivery = createActor(this.#logic(target), { clock });
    const deliveries = this.#deliveries.get(taskId) ?? new Map<string, Delivery>();
    this.#deliveries.set(taskId, deliveries.set(id, delivery));
    delivery.subscribe({
      complete: () => this.#forget(target),
      error: (error) => log.error({ error, task_id: taskId }, 'push: a delivery broke'),
    });
    return delivery.start();
  }

  /** Stops a delivery and returns whether something was still to be sent. */
  #forget({ taskId, id }: Pick<PushTarget, 'taskId' | 'id'>): boolean {
    const deliveries = this.#deliveries.get(taskId);
    const delivery = deliveries?.get(id);
    delivery?.stop();
    deliveries?.delete(id);
    if (deliveries?.size === 0) this.#deliveries.delete(taskId);
    return (delivery?.getSnapshot().context.waiting.length ?? 0) > 0;
  }

  #logic(target: PushTarget) {
    const { rows, log } = this.#options;
    return pushDeliveryMachine.provide({
      actors: {
        post: fromPromise<void, { task: Task }>(({ input, signal }) =>
          this.#turns.take(new URL(target.url).host, signal, () =>
            this.#post(target, input.task, signal),
          ),
        ),
      },
      actions: {
        keepTold: (_, task: Task) =>
          this.#attempt(task.id, () => rows.keepTold(target, task.revision, isFinal(task.state))),
        noteGivenUp: (_, { task, error }) =>
          log.warn(
            { task_id: task.id, error: reasonOf(error) },
            'push: a notification was given up after an hour',
          ),
      },
    });
  }

  async #post(target: PushTarget, task: Task, signal: AbortSignal): Promise<void> {
    const { write, egress } = this.#options;
    const { body, contentType } = await write(task, target.version);
    const response = await egress.within(scopeOf(target), () =>
      egress.fetch(target.url, {
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
        headers: { 'Content-Type': contentType, ...authentication(target) },
        body,
      }),
    );
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
  }
}

/** Returns the scope of a task: a caller named the receiver, so it is checked like a request of a tool. */
function scopeOf({ taskId }: PushTarget): EgressScope {
  return { taskId, correlationId: null, tags: {} };
}

function authentication({ token, authentication: auth }: PushTarget): Record<string, string> {
  return {
    ...(auth?.credentials ? { Authorization: `${auth.scheme} ${auth.credentials}` } : {}),
    ...(token === '' ? {} : { 'X-A2A-Notification-Token': token }),
  };
}

/** What fetch says of a failure is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
