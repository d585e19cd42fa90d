import { LRUCache } from 'lru-cache';
import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import { pushDeliveryMachine } from '../../../machines/push/push-delivery-machine.ts';
import { isFinal, type Task } from '../../../machines/task/task.ts';
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

/** What a receiver is called through. */
export interface PushEgress extends ScopedOutbound {
  /** Returns why a URL may not be called for a scope, as far as can be told without calling it; `null` when it may. */
  refusalOf(url: URL, scope: EgressScope): Promise<string | null>;
}

export interface PushOptions extends PostPorts {
  rows: PushRows;
  /** Returns a task as it stands on disk. */
  find: (id: string) => Promise<Task | undefined>;
  /** Checks every URL when it is set and each time it is called. */
  egress: PushEgress;
  /** True when other daemons tell receivers of the same tasks, and this one when it is started. */
  isShared?: boolean;
  clock: Clock;
  log: Log;
}

const mostTargets = 16;

/** Receivers without a delivery of which it is remembered what they were told. */
const mostRemembered = 1_000;

/** Pause after the store failed, in milliseconds. */
const storePause = 5_000;

type Delivery = ActorRefFrom<typeof pushDeliveryMachine>;

/** Delivers push notifications to the receivers of tasks, also after a restart. */
export class PushNotifications implements PushTargets {
  readonly #options: PushOptions;
  readonly #deliveries = new Map<string, Map<string, Delivery>>();
  /** After a restart thousands of receivers may be behind. */
  readonly #turns = new PostTurns();
  /** What concerns one task is done in the order in which it came, while rows are read as well. */
  readonly #ofTask = new InOrder();
  readonly #told: NewestWrites;
  /** The last revision that receivers were told of, or will not be: a change that was read may be heard after that. */
  readonly #revisions = new LRUCache<string, number>({ max: mostRemembered });
  readonly #stopped = new AbortController();
  #isDelivering: boolean;
  /** Resolves once what an earlier start left has its place before whatever is set or deleted. */
  #opened: Promise<void> = Promise.resolve();

  constructor(options: PushOptions) {
    this.#options = options;
    this.#isDelivering = options.isShared !== true;
    this.#told = new NewestWrites(options.clock);
  }

  /** Delivers nothing until it is started again; what is not told stays in the store. */
  pause(): void {
    this.#isDelivering = false;
    this.#stopDeliveries();
  }

  /** Resumes the receivers that do not know yet how their task ended, as soon as the store can be read. */
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

  /** Notifies the receivers of a task of a change that is on disk. */
  changed(task: Task): void {
    if (this.#stopped.signal.aborted || !this.#isDelivering) return;
    const { isShared = false } = this.#options;
    if (!isShared && this.#deliveries.has(task.id) && !this.#ofTask.isBusy(task.id))
      this.#send(task);
    else void this.#inTask(task.id, () => this.#tell(task));
  }

  /** Stops every delivery; the next start resumes them. Resolves once the store has what was told. */
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

  /** Does something for a task when its turn comes. Never rejects. */
  #inTask(taskId: string, run: () => Promise<void>): Promise<void> {
    return this.#ofTask.run(taskId, () => this.#persist({ task_id: taskId }, run));
  }

  /** Tries again, after pauses, what the store fails at, until it stops. Never rejects. */
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
    // Who was told of a change since the daemon began to answer is up to date.
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
    // What one before it was told must not be written over what this one is.
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

  /** Returns whether one in whose place a receiver comes was not told of an end that may not have been heard of here yet. */
  #missesEnd(target: PushTarget, task: Task | undefined, before: number | null): boolean {
    if (before === null || task === undefined || !isFinal(task.state)) return false;
    return Math.max(before, this.#revisions.get(nameOf(target)) ?? 0) < task.revision;
  }

  /** Leaves a receiver to the daemon that delivers, unless that one heard of the end before there was a receiver. */
  async #putAside(
    target: PushTarget,
    task: Task | undefined,
    before: number | null,
  ): Promise<void> {
    const latest = await this.#options.find(target.taskId);
    if (latest === undefined || !isFinal(latest.state) || this.#stopped.signal.aborted) return;
    // What one in its place was still to be told is told there, now or by who delivers next.
    if (before !== null && before < latest.revision) return;
    if (task?.revision === latest.revision) return this.#keepTold(target, latest);
    this.#start(target, task?.revision ?? 0).send({ type: 'task.changed', task: latest });
  }

  /** A task that ended may run again; then its receivers are told again. */
  async #tell(task: Task): Promise<void> {
    if (this.#options.isShared === true || !this.#deliveries.has(task.id)) {
      await this.#renew(task.id);
    }
    this.#send(task);
  }

  /** Has the receivers that the store knows of a task, and no others. */
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

  /** Starts to deliver what comes after a revision; `null` once it is stopped. */
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

/** Unique among the receivers of all tasks; an id of a task has no space. */
function nameOf({ taskId, id }: Pick<PushTarget, 'taskId' | 'id'>): string {
  return `${taskId} ${id}`;
}

/** What fetch says of a failure is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
