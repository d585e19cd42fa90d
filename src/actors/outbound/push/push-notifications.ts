import { LRUCache } from 'lru-cache';
import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import { isFinal, type Task } from '../../../machines/domain/task.ts';
import { pushDeliveryMachine } from '../../../machines/push/push-delivery-machine.ts';
import { InOrder } from '../../in-order.ts';
import { NewestWrites } from '../../newest-writes.ts';
import {
  type Clock,
  type EgressScope,
  type Log,
  type PushTarget,
  PushTargetError,
  type PushTargets,
  type ScopedOutbound,
} from '../../ports.ts';
import type { OpenTarget, PushRows } from '../../records/records.ts';
import { rest } from '../../rest.ts';
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

/** Maximum remembered receivers without a running delivery. */
const mostRemembered = 1_000;

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
  readonly #told: NewestWrites;
  /**
   * Last delivered or skipped revision of each receiver; a change may be reported after it has already been read from
   * the store.
   */
  readonly #revisions = new LRUCache<string, number>({ max: mostRemembered });
  readonly #stopped = new AbortController();
  #isDelivering: boolean;
  /** Resolves once receivers of an earlier start are queued; `set` and `delete` wait for it. */
  #opened: Promise<void> = Promise.resolve();

  constructor(options: PushOptions) {
    this.#options = options;
    this.#isDelivering = options.isShared !== true;
    this.#told = new NewestWrites(options.clock);
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
      this.#told.forget(nameOf({ taskId, id }));
      this.#revisions.delete(nameOf({ taskId, id }));
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
    await this.#told.stop();
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
    if ((this.#revisions.get(nameOf(target)) ?? 0) > told) return;
    if (this.#deliveries.get(target.taskId)?.has(target.id)) return;
    const delivery = this.#deliver(target, told);
    if (task !== undefined) delivery?.send({ type: 'task.changed', task });
  }

  async #put(target: PushTarget): Promise<PushTarget> {
    const { rows, find } = this.#options;
    const others = (await rows.list(target.taskId)).filter(({ id }) => id !== target.id);
    if (others.length >= mostTargets) {
      throw new PushTargetError(`a task may have ${mostTargets} push notification configs at most`);
    }
    const task = await find(target.taskId);
    // A pending write for the replaced receiver must not overwrite the row of the new one.
    await this.#told.answered(nameOf(target));
    const told = task?.revision ?? 0;
    const before = await rows.put(target, told);
    const isBehind = this.#forget(target) || this.#missesEnd(target, task, before);
    if (!this.#isDelivering) {
      await this.#putAside(target, task, before);
      return target;
    }
    if (task !== undefined && isFinal(task.state) && !isBehind) {
      this.#keepTold(target, task);
      return target;
    }
    const delivery = this.#deliver(target, isBehind ? 0 : told);
    if (task !== undefined) delivery?.send({ type: 'task.changed', task });
    return target;
  }

  /**
   * Returns whether the replaced receiver had not been notified of the task's end, which this daemon may not have seen
   * yet.
   */
  #missesEnd(target: PushTarget, task: Task | undefined, before: number | null): boolean {
    if (before === null || task === undefined || !isFinal(task.state)) return false;
    return Math.max(before, this.#revisions.get(nameOf(target)) ?? 0) < task.revision;
  }

  /**
   * Leaves a receiver to the delivering daemon, unless the task ended before the receiver was stored, in which case
   * that daemon may have missed it.
   */
  async #putAside(
    target: PushTarget,
    task: Task | undefined,
    before: number | null,
  ): Promise<void> {
    const latest = await this.#options.find(target.taskId);
    if (latest === undefined || !isFinal(latest.state) || this.#stopped.signal.aborted) return;
    // Pending notifications of the replaced receiver are sent by the current or the next delivering daemon.
    if (before !== null && before < latest.revision) return;
    if (task?.revision === latest.revision) return this.#keepTold(target, latest);
    this.#start(target, task?.revision ?? 0).send({ type: 'task.changed', task: latest });
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
    const live = this.#deliveries.get(taskId);
    for (const id of [...(live?.keys() ?? [])]) {
      if (!targets.some((target) => target.id === id)) this.#forget({ taskId, id });
    }
    for (const target of targets) {
      if (live?.has(target.id) === true) continue;
      this.#deliver(target, this.#revisions.get(nameOf(target)) ?? 0);
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

  #keepTold(target: PushTarget, { revision, state }: Task): void {
    const { rows, log } = this.#options;
    const { taskId } = target;
    const name = nameOf(target);
    this.#revisions.set(name, revision);
    this.#told.keep(
      name,
      () => rows.keepTold(target, revision, isFinal(state)),
      (error) => log.error({ error, task_id: taskId }, 'push: the store failed'),
    );
  }

  /** Starts delivering changes after revision `told`; `null` if stopped. */
  #deliver(target: PushTarget, told: number): Delivery | null {
    if (this.#stopped.signal.aborted || !this.#isDelivering) return null;
    return this.#start(target, told);
  }

  #start(target: PushTarget, told: number): Delivery {
    const { clock, log } = this.#options;
    const { taskId, id } = target;
    const delivery = createActor(this.#logic(target), { clock, input: { told } });
    const deliveries = this.#deliveries.get(taskId) ?? new Map<string, Delivery>();
    this.#deliveries.set(taskId, deliveries.set(id, delivery));
    delivery.subscribe({
      complete: () => this.#forget(target),
      error: (error) => log.error({ error, task_id: taskId }, 'push: a delivery broke'),
    });
    return delivery.start();
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
        keepTold: (_, task: Task) => this.#keepTold(target, task),
        noteGivenUp: (_, { task, error }) =>
          log.warn(
            { task_id: task.id, error: reasonOf(error) },
            'push: a notification was given up after an hour',
          ),
      },
    });
  }
}

/** Returns a key that is unique across all tasks; task ids contain no spaces. */
function nameOf({ taskId, id }: Pick<PushTarget, 'taskId' | 'id'>): string {
  return `${taskId} ${id}`;
}

/** fetch puts the reason of a failure into its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
