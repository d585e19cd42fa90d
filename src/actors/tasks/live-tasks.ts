import { createActor, type InspectionEvent, type Observer } from 'xstate';
import { isKnownVersion } from '../../machines/task/migrate-snapshot.ts';
import { isFinal } from '../../machines/task/task.ts';
import type { TaskEvent } from '../../machines/task/task-events.ts';
import type { TaskContext, TaskInput } from '../../machines/task/task-input.ts';
import type { taskMachine } from '../../machines/task/task-machine.ts';
import type { Every } from '../every.ts';
import type { EgressRecord } from '../ports.ts';
import {
  ConflictError,
  type SentMessage,
  type StoredTask,
  type TaskStore,
  UnrecordedError,
} from '../records/records.ts';
import { SystemError, shuttingDown } from '../system-error.ts';
import { claimed, isStandingStill } from './claimed-task.ts';
import { LiveTask, type LiveTaskPorts, type Saved } from './live-task.ts';
import { restoreTask, standingOf, UnrestorableError, unknownVersion } from './restore-task.ts';
import type { Measured } from './run-measures.ts';
import { mayRepeat, stillHolds } from './still-holds.ts';
import { createIdleTaskLogic, createTaskLogic, type TaskLogicPorts } from './task-logic.ts';
import { type BrokenTask, TaskRegistry } from './task-registry.ts';
import { endUnreadable } from './unreadable-task.ts';
import { Upkeep } from './upkeep.ts';
import type { Watchers } from './watchers.ts';

/** What keeping tasks alive needs. */
export interface LiveTasksOptions
  extends Omit<TaskLogicPorts, 'live' | 'onProgress' | 'onToolProgress' | 'speak'> {
  store: TaskStore;
  envelope: LiveTaskPorts['envelope'];
  /** Takes contents into the audit log; left out while none are. */
  capture?: LiveTaskPorts['capture'];
  watchers: Watchers;
  inspect?: Observer<InspectionEvent>;
  /** Hears of what has ended in a task, for the metrics. */
  onMeasured: (measured: Measured) => void;
  /** How long a parked task that nobody follows stays in memory, in milliseconds. */
  restAfter: number;
  /** How what is done now and then is timed; by the time of this machine when absent. */
  every?: Every;
  /** The release that runs, for whoever finds its tasks with another one. */
  release: string;
  /** True when other daemons work on the same tasks: one at work without an actor here is theirs. */
  isShared: boolean;
}

type TaskLogic = typeof taskMachine;

/**
 * The tasks that have an actor: one for each id at most. A parked task is put to rest in the store, followed
 * or not, and comes back to life with the next event for it: what waits for days costs no memory.
 */
export class LiveTasks {
  readonly registry: TaskRegistry;
  readonly #options: LiveTasksOptions;
  readonly #logic: TaskLogic;
  readonly #idleLogic: TaskLogic;
  readonly #ports: LiveTaskPorts;
  readonly #live = new Map<string, LiveTask>();
  /** Tasks let go of, until what they had to save is settled. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  readonly #upkeep: Upkeep;
  #isStopped = false;

  constructor(options: LiveTasksOptions) {
    const { store, clock, envelope, watchers } = options;
    const live = (id: string): LiveTask => this.#get(id);
    this.#options = options;
    this.#logic = createTaskLogic({
      ...options,
      live,
      onProgress: (id, progress) => watchers.progressed(id, progress),
      onToolProgress: (id, report) => watchers.reported(id, report),
      speak: (id) => watchers.speak(id),
    });
    this.#idleLogic = createIdleTaskLogic(live);
    this.#ports = {
      store,
      clock,
      envelope,
      capture: options.capture ?? null,
      onCommitted: (task, saved) => this.#onCommitted(task, saved),
      onLost: (task, error) => this.#onLost(task, error),
      onMeasured: options.onMeasured,
    };
    const find = (id: string): LiveTask | undefined => this.#live.get(id);
    const bury = (broken: BrokenTask): void => this.#bury(broken);
    const wake = (id: string): void => void this.#wake(id);
    const rest = (task: LiveTask): void => this.#rest(task);
    const rows = options.isShared ? null : store.rows;
    this.registry = new TaskRegistry({ ...options, rows, find, wake, bury });
    this.#upkeep = new Upkeep({ ...options, live: this.#live, rest, wake });
  }

  /** Takes tasks in, and looks after all of them from now on. */
  start(): void {
    this.registry.start();
    this.#upkeep.start();
  }

  /** Ids of the tasks that are at work, not parked. */
  atWork(): string[] {
    return [...this.#live.values()]
      .filter((task) => task.committed?.state !== 'deferred')
      .map(({ id }) => id);
  }

  /** How many tasks have an actor. */
  get size(): number {
    return this.#live.size;
  }

  /** Returns the live task of an id, if it has one. */
  find(id: string): LiveTask | undefined {
    return this.#live.get(id);
  }

  /** Starts a task, or a new run of one that had ended; `sent` has its message known again. */
  open(input: TaskInput, stored: StoredTask | undefined, sent: SentMessage | null): LiveTask {
    const task = new LiveTask(input.id, stored, input.trace, this.#ports);
    if (sent !== null) task.keep(sent);
    // An actor takes its first steps as it is made.
    this.#live.set(task.id, task);
    // A trace that begins here is the one that the run goes on in after a restart.
    const traced = { ...input, trace: input.trace ?? task.trace.traceParent };
    task.actor = createActor(this.#logic, {
      id: input.id,
      parent: this.registry.actor,
      input: traced,
    });
    return this.#begin(task);
  }

  /**
   * Returns the live task of an id, bringing it back from the store when it is at rest;
   * `undefined` when it is unknown, final or unreadable. Throws SystemError for a snapshot of a version
   * that nothing leads from.
   */
  async activate(id: string): Promise<LiveTask | undefined> {
    return this.#live.get(id) ?? this.#awaken(await this.#stored(id));
  }

  /**
   * Returns the live task of an id, bringing it back only when it is parked: one that is at work
   * without an actor here may be at work in another process over the same store.
   */
  async activateParked(id: string): Promise<LiveTask | undefined> {
    const live = this.#live.get(id);
    if (live !== undefined) return live;
    const stored = await this.#stored(id);
    return stored?.task.state === 'deferred' ? this.#awaken(stored) : undefined;
  }

  /**
   * Returns the live task of an id for a word that ends it: one that another daemon may have at work is brought to life
   * with ports that do nothing, so that nothing of it runs twice.
   */
  async activateToEnd(id: string): Promise<LiveTask | undefined> {
    const live = this.#live.get(id);
    if (live !== undefined) return live;
    const stored = await this.#stored(id);
    const isElsewhere = this.#options.isShared && stored?.task.state !== 'deferred';
    return isElsewhere ? this.#restore(stored, this.#idleLogic) : this.#awaken(stored);
  }

  /** Lets a task that was interrupted by a restart end in its own words, with nothing run again. */
  async abandon(id: string): Promise<LiveTask | undefined> {
    const task = await this.#restore(await this.#stored(id), this.#idleLogic);
    const event: TaskEvent = { type: 'service.restarted', at: this.#options.clock.now() };
    task?.actor.send(event);
    return task;
  }

  /**
   * Goes on with a task at work whose daemon is gone. It is saved first, so that nothing is committed any more by one
   * that was only cut off. Rejects with ConflictError when somebody else was quicker.
   */
  async resume(id: string): Promise<void> {
    const stored = await this.#stored(id);
    if (stored === undefined || isStandingStill(stored)) return;
    // What another release alone can go on with is left to it.
    if (!isKnownVersion(stored.machineVersion)) throw await unknownVersion(stored, this.#options);
    await this.#awaken(await claimed(stored, this.#options.store));
  }

  /** Has the policy in force rule again on the call of a parked task, and ends the wait when it rules otherwise. */
  async review(id: string): Promise<void> {
    const stored = await this.#stored(id);
    if (stored?.task.state !== 'deferred' || !isKnownVersion(stored.machineVersion)) return;
    try {
      if (await stillHolds(stored, this.#options)) return;
    } catch (error) {
      if (!(error instanceof UnrestorableError)) throw error;
      throw await unknownVersion(stored, this.#options, error.cause);
    }
    const task = await this.activateParked(id);
    task?.actor.send({ type: 'policy.changed', at: this.#options.clock.now() });
  }

  /** Lets go of a task that another daemon has changed; it is read again when it is needed. */
  letGo(id: string, revision: number): void {
    const task = this.#live.get(id);
    if (task === undefined || task.revision >= revision) return;
    this.#leave(task);
  }

  /** Has a task rest that is behind the store. What it had to save is refused first, so that nothing else is saved in its place. */
  #leave(task: LiveTask): void {
    const { id } = task;
    this.#rest(task);
    const leaving = task.saved().catch(() => undefined);
    this.#leaving.set(id, leaving);
    void leaving.then(() => this.#leaving.get(id) === leaving && this.#leaving.delete(id));
  }

  /**
   * Has a live task note what the egress policy ruled on one of its hops; false when the task is at work
   * no more, so that somebody else has to note it.
   */
  noteEgress({ scope, domain, mode, reason }: EgressRecord): boolean {
    const id = scope?.taskId ?? null;
    const task = id === null ? undefined : this.#live.get(id);
    if (task?.actor.getSnapshot().status !== 'active') return false;
    task.actor.send({ type: 'egress.judged', domain, mode, reason });
    return true;
  }

  /** Stops every actor, whatever it does; the store keeps what was saved. */
  stop(): void {
    this.#isStopped = true;
    this.#upkeep.stop();
    for (const task of [...this.#live.values()]) this.#rest(task);
    this.registry.stop();
  }

  #get(id: string): LiveTask {
    const task = this.#live.get(id);
    if (task === undefined) throw new Error(`task ${id} is not live`);
    return task;
  }

  #begin(task: LiveTask): LiveTask {
    task.actor.start();
    return task;
  }

  /** Brings a task back to life and has it go on. */
  async #awaken(stored: StoredTask | undefined): Promise<LiveTask | undefined> {
    const isBarred = (await this.#mayRepeat(stored)) === false;
    return this.#restore(stored, this.#logic, (task) => {
      this.#upkeep.noticeParked(task);
      const standing = standingOf(task.actor.getSnapshot().context, this.#options.tools);
      task.goOn(isBarred ? 'unknown' : standing);
    });
  }

  /** Tells whether the call of a stored task that may run again still may; `null` when none would. */
  async #mayRepeat(stored: StoredTask | undefined): Promise<boolean | null> {
    if (stored === undefined || isStandingStill(stored)) return null;
    try {
      const context = restoreTask(stored, (snapshot) => snapshot.context) as TaskContext;
      if (standingOf(context, this.#options.tools) !== 'repeatable') return null;
      return await mayRepeat(context, this.#options);
    } catch (error) {
      // It is refused where it is restored.
      if (error instanceof UnrestorableError) return null;
      throw error;
    }
  }

  /** Makes a task live again; of several who ask at once the first does, and runs `begun` before anybody else goes on. */
  async #restore(
    stored: StoredTask | undefined,
    logic: TaskLogic,
    begun: (task: LiveTask) => void = () => undefined,
  ): Promise<LiveTask | undefined> {
    if (stored === undefined || isFinal(stored.task.state)) return undefined;
    const live = this.#live.get(stored.task.id);
    if (live !== undefined) return live;
    // It may have been read for long.
    if (this.#isStopped) throw shuttingDown();
    try {
      const task = this.#restoreNow(stored, logic);
      this.#live.set(task.id, task);
      begun(this.#begin(task));
      return task;
    } catch (error) {
      if (!(error instanceof UnrestorableError)) throw error;
      throw await unknownVersion(stored, this.#options, error.cause);
    }
  }

  #restoreNow(stored: StoredTask, logic: TaskLogic): LiveTask {
    const { id } = stored.task;
    return restoreTask(stored, (snapshot) => {
      const task = new LiveTask(id, stored, snapshot.context.run?.trace ?? null, this.#ports);
      if (snapshot.value !== undefined) task.resumeFrom(snapshot.value);
      const input = undefined as never;
      task.actor = createActor(logic, { id, parent: this.registry.actor, snapshot, input });
      return task;
    });
  }

  /** Returns what is kept of a task; one whose row cannot be read is ended. */
  async #stored(id: string): Promise<StoredTask | undefined> {
    await this.#leaving.get(id);
    const stored = await this.#options.store.rows.read(id);
    if (stored?.unreadable === undefined || stored.unreadable === null) return stored;
    endUnreadable(stored, this.#options);
    return undefined;
  }

  #rest(task: LiveTask): void {
    this.#live.delete(task.id);
    this.#upkeep.forget(task.id);
    task.trace.end(task.committed?.state ?? 'submitted');
    task.seal();
    this.registry.rest(task.actor);
  }

  /** Has a task go on: one that was interrupted, and one whose deadline has come. */
  async #wake(id: string): Promise<void> {
    const at = this.#options.clock.now();
    try {
      const { isShared } = this.#options;
      const task = await (isShared ? this.activateParked(id) : this.activate(id));
      if (task?.isDue(at) === true) task.actor.send({ type: 'deadline.reached', at });
    } catch (error) {
      if (this.#isStopped) return;
      this.#options.log.error({ error, task_id: id }, 'task: cannot be brought back to life');
    }
  }

  #bury({ actorId, error }: BrokenTask): void {
    const task = this.#live.get(actorId);
    if (task === undefined) return;
    this.#options.log.error({ error, task_id: actorId }, 'task: failed inside the service');
    task.crash();
  }

  #onCommitted(task: LiveTask, { task: committed, before, passed }: Saved): void {
    const { wakeAt: at } = committed;
    if (at !== null) this.registry.watchDeadline(at);
    if (isFinal(committed.state)) {
      if (this.#live.get(task.id) === task) this.#live.delete(task.id);
    } else this.#upkeep.noticeParked(task);
    this.#options.watchers.passed(task.id, passed);
    this.#options.watchers.changed(committed, before);
  }

  #onLost(task: LiveTask, error: Error): void {
    if (this.#live.get(task.id) !== task) return;
    this.#leave(task);
    // Who follows the task here is told of the change that came first.
    if (this.#options.isShared && error instanceof ConflictError) return;
    this.#options.log.error({ error, task_id: task.id }, 'task: a change could not be saved');
    if (error instanceof UnrecordedError) this.#upkeep.noticeUnrecorded(task.id);
    this.#options.watchers.lost(
      task.id,
      new SystemError('unrecorded', 'the task could not be recorded; try again later', {
        cause: error,
      }),
    );
  }
}
