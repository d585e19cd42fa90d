import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import type { Task } from '../../../machines/domain/task.ts';
import { firstDelivery } from '../../../machines/push/first-delivery.ts';
import { pushDeliveryMachine } from '../../../machines/push/push-delivery-machine.ts';
import { InOrder } from '../../in-order.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EgressScope, ScopedOutbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import { type PushTarget, PushTargetError, type PushTargets } from '../../ports/push.ts';
import type { OpenTarget, PushRows } from '../../records/records.ts';
import { rest } from '../../rest.ts';
import { DeliveredRevisions } from './delivered-revisions.ts';
import { type PostPorts, postNotification, scopeOf } from './post-notification.ts';
import { PostTurns } from './post-turns.ts';
import { targetFault } from './target-fault.ts';

/** Egress for requests to receivers. */
export interface PushEgress extends ScopedOutbound {
  /** Returns why a URL may not be called for a scope, without calling it; `null` if it may. */
  refusalOf(url: URL, scope: EgressScope): Promise<string | null>;
}

export interface PushOptions extends PostPorts {
  rows: PushRows;
  /** Returns a task as stored on disk. */
  find: (id: string) => Promise<Task | undefined>;
  /** Checks every URL, when it is set and at each post. */
  egress: PushEgress;
  /** True if several daemons share the tasks and only the started one delivers. */
  isShared?: boolean;
  clock: Clock;
  log: Log;
}

const mostTargets = 16;

/** Pause after a store failure, in milliseconds. */
const storePause = 5_000;

type Delivery = ActorRefFrom<typeof pushDeliveryMachine>;

/** Delivers push notifications to the receivers of tasks; resumes after a restart. */
export class PushNotifications implements PushTargets {
  readonly #options: PushOptions;
  readonly #deliveries = new Map<string, Map<string, Delivery>>();
  /** After a restart thousands of receivers may be behind, so concurrent posts are limited. */
  readonly #turns = new PostTurns();
  /** Serialises the operations of each task, including reads of its rows. */
  readonly #ofTask = new InOrder();
  readonly #revisions: DeliveredRevisions;
  readonly #stopped = new AbortController();
  #isDelivering: boolean;
  #givenUp = 0;
  /** Resolves once receivers of an earlier start are queued; `set` and `delete` wait for it. */
  #opened: Promise<void> = Promise.resolve();

  constructor(options: PushOptions) {
    this.#options = options;
    this.#isDelivering = options.isShared !== true;
    this.#revisions = new DeliveredRevisions(options);
  }

  /** Returns the number of notifications that wait or are being posted, and of those given up since the start. */
  figures(): { pending: number; givenUp: number } {
    let pending = 0;
    for (const deliveries of this.#deliveries.values()) {
      for (const delivery of deliveries.values()) {
        pending += delivery.getSnapshot().context.waiting.length;
      }
    }
    return { pending, givenUp: this.#givenUp };
  }

  /** Stops delivering until the next `start`; undelivered notifications stay in the store. */
  pause(): void {
    this.#isDelivering = false;
    this.#stopDeliveries();
  }

  /** Resumes the receivers that have not been notified of their task's end, as soon as the store can be read. */
  start(): void {
    const { rows } = this.#options;
    this.#isDelivering = true;
    this.#opened = this.#persist({}, async () => {
      await rows.deleteOrphans();
      for (const open of await rows.open()) {
        void this.#inTask(open.target.taskId, () => this.#resume(open));
      }
    });
  }

  async set(target: PushTarget): Promise<PushTarget> {
    await this.#vet(target);
    await this.#opened;
    return this.#ofTask.run(target.taskId, () => this.#put(target));
  }

  find(taskId: string, id: string): Promise<PushTarget | undefined> {
    return this.#options.rows.find(taskId, id);
  }

  list(taskId: string): Promise<PushTarget[]> {
    return this.#options.rows.list(taskId);
  }

  async delete(taskId: string, id: string): Promise<boolean> {
    await this.#opened;
    return this.#ofTask.run(taskId, async () => {
      const isDeleted = await this.#options.rows.delete(taskId, id);
      this.#forget({ taskId, id });
      this.#revisions.forget({ taskId, id });
      return isDeleted;
    });
  }

  /** Notifies the receivers of a task of a committed change. */
  changed(task: Task): void {
    if (this.#stopped.signal.aborted || !this.#isDelivering) return;
    const { isShared = false } = this.#options;
    if (!isShared && this.#deliveries.has(task.id) && !this.#ofTask.isBusy(task.id))
      this.#send(task);
    else void this.#inTask(task.id, () => this.#tell(task));
  }

  /** Stops every delivery; the next start resumes them. Resolves once the delivered revisions are stored. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#stopDeliveries();
    await this.#revisions.stop();
  }

  async #vet(target: PushTarget): Promise<void> {
    const fault =
      targetFault(target) ??
      (await this.#options.egress.refusalOf(new URL(target.url), scopeOf(target)));
    if (fault !== null) throw new PushTargetError(fault);
  }

  /** Runs an operation after the earlier ones of its task. Never rejects. */
  #inTask(taskId: string, run: () => Promise<void>): Promise<void> {
    return this.#ofTask.run(taskId, () => this.#persist({ task_id: taskId }, run));
  }

  /** Retries an operation after store failures, with pauses, until stopped. Never rejects. */
  async #persist(fields: object, run: () => Promise<void>): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        return await run();
      } catch (error) {
        log.error({ error, ...fields }, 'push: the store failed');
      }
      await rest(storePause, clock, signal);
    }
  }

  async #resume({ target, told }: OpenTarget): Promise<void> {
    const task = await this.#options.find(target.taskId);
    // Already notified of a later change since the start.
    if (!this.#isDelivering || this.#revisions.of(target) > told) return;
    if (this.#deliveries.get(target.taskId)?.has(target.id)) return;
    this.#deliver(target, told, task);
  }

  async #put(target: PushTarget): Promise<PushTarget> {
    const { rows, find } = this.#options;
    const { taskId } = target;
    const others = (await rows.list(taskId)).filter(({ id }) => id !== target.id);
    if (others.length >= mostTargets) {
      throw new PushTargetError(`a task may have ${mostTargets} push notification configs at most`);
    }
    const asked = await find(taskId);
    const since = asked?.revision ?? 0;
    // A pending write for the replaced receiver must not overwrite the row of the new one.
    await this.#revisions.written(target);
    const before = await rows.put(target, since);
    const hadWaiting = this.#forget(target);
    const isDelivering = this.#isDelivering;
    const task = isDelivering ? asked : await find(taskId);
    const delivered = this.#revisions.of(target);
    const first = firstDelivery({ isDelivering, since, task, before, delivered, hadWaiting });
    if (first === 'over' && task !== undefined) this.#revisions.keep(target, task);
    else if (typeof first === 'object') this.#deliver(target, first.after, task);
    return target;
  }

  /** A task that ended may run again; its receivers are then notified again. */
  async #tell(task: Task): Promise<void> {
    if (this.#options.isShared === true || !this.#deliveries.has(task.id)) {
      await this.#renew(task.id);
    }
    this.#send(task);
  }

  /** Synchronises the running deliveries of a task with the receivers in the store. */
  async #renew(taskId: string): Promise<void> {
    const targets = await this.#options.rows.list(taskId);
    if (!this.#isDelivering) return;
    const live = this.#deliveries.get(taskId);
    for (const id of [...(live?.keys() ?? [])]) {
      if (!targets.some((target) => target.id === id)) this.#forget({ taskId, id });
    }
    for (const target of targets) {
      if (live?.has(target.id) === true) continue;
      this.#deliver(target, this.#revisions.of(target));
    }
  }

  #stopDeliveries(): void {
    for (const deliveries of this.#deliveries.values()) {
      for (const delivery of deliveries.values()) delivery.stop();
    }
    this.#deliveries.clear();
  }

  #send(task: Task): void {
    for (const delivery of this.#deliveries.get(task.id)?.values() ?? []) {
      delivery.send({ type: 'task.changed', task });
    }
  }

  /** Starts delivering changes after revision `told`, and the task if it is one; does nothing once stopped. */
  #deliver(target: PushTarget, told: number, task?: Task): void {
    if (this.#stopped.signal.aborted) return;
    const { clock, log } = this.#options;
    const { taskId, id } = target;
    const delivery = createActor(this.#logic(target), { clock, input: { told } });
    const deliveries = this.#deliveries.get(taskId) ?? new Map<string, Delivery>();
    this.#deliveries.set(taskId, deliveries.set(id, delivery));
    delivery.subscribe({
      complete: () => this.#forget(target),
      error: (error) => log.error({ error, task_id: taskId }, 'push: a delivery broke'),
    });
    delivery.start();
    if (task !== undefined) delivery.send({ type: 'task.changed', task });
  }

  /** Stops a delivery and returns whether it had pending notifications. */
  #forget({ taskId, id }: Pick<PushTarget, 'taskId' | 'id'>): boolean {
    const deliveries = this.#deliveries.get(taskId);
    const delivery = deliveries?.get(id);
    delivery?.stop();
    deliveries?.delete(id);
    if (deliveries?.size === 0) this.#deliveries.delete(taskId);
    return (delivery?.getSnapshot().context.waiting.length ?? 0) > 0;
  }

  #logic(target: PushTarget) {
    const { log } = this.#options;
    return pushDeliveryMachine.provide({
      actors: {
        post: fromPromise<void, { task: Task }>(({ input, signal }) =>
          this.#turns.take(new URL(target.url).host, signal, () =>
            postNotification(target, input.task, { ...this.#options, signal }),
          ),
        ),
      },
      actions: {
        keepTold: (_, task: Task) => this.#revisions.keep(target, task),
        noteGivenUp: (_, { task, error }) => {
          this.#givenUp += 1;
          log.warn(
            { task_id: task.id, error: reasonOf(error) },
            'push: a notification was given up after an hour',
          );
        },
      },
    });
  }
}

/** fetch puts the reason of a failure into its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
