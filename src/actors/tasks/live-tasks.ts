import {
  type ActorRefFrom,
  type AnyActor,
  createActor,
  type InspectionEvent,
  type Observer,
  type Snapshot,
  type StateValue,
} from 'xstate';
import { registryMachine } from '../../machines/registry/registry-machine.ts';
import {
  isKnownVersion,
  type KeptSnapshot,
  migrateSnapshot,
} from '../../machines/task/migrate-snapshot.ts';
import { rewindCall } from '../../machines/task/rewind-call.ts';
import { isFinal, type Task } from '../../machines/task/task.ts';
import type { StartStanding, TaskEvent } from '../../machines/task/task-events.ts';
import type { TaskContext, TaskInput } from '../../machines/task/task-input.ts';
import { type taskMachine, taskMachineVersion } from '../../machines/task/task-machine.ts';
import type { EgressRecord } from '../ports.ts';
import {
  type SentMessage,
  type StoredTask,
  type TaskStore,
  UnrecordedError,
} from '../records/records.ts';
import type { PassedStates } from './entered-states.ts';
import { LiveTask, type LiveTaskPorts, type Measured } from './live-task.ts';
import { SystemError } from './system-error.ts';
import { createIdleTaskLogic, createTaskLogic, type TaskLogicPorts } from './task-logic.ts';
import { wordsOfUnreadable } from './unreadable-task.ts';
import { createWatchDeadlines } from './watch-deadlines.ts';
import type { Watchers } from './watchers.ts';

/** What keeping tasks alive needs. */
export interface LiveTasksOptions extends Omit<TaskLogicPorts, 'live' | 'onProgress'> {
  store: TaskStore;
  envelope: LiveTaskPorts['envelope'];
  /** Takes contents into the audit log; left out while none are. */
  capture?: LiveTaskPorts['capture'];
  watchers: Watchers;
  inspect?: Observer<InspectionEvent>;
  /** Hears of what has ended in a task, for the metrics. */
  onMeasured: (measured: Measured) => void;
  /** Hears of every change of a task that is on disk. */
  onChanged: (task: Task) => void;
  /** How long a parked task that nobody follows stays in memory, in milliseconds. */
  restAfter: number;
  /** The release that runs, for whoever finds its tasks with another one. */
  release: string;
}

type TaskLogic = typeof taskMachine;

/**
 * The tasks that have an actor: one for each id at most. A parked task is put to rest in the store, followed
 * or not, and comes back to life with the next event for it: what waits for days costs no memory.
 */
export class LiveTasks {
  readonly #options: LiveTasksOptions;
  readonly #logic: TaskLogic;
  readonly #idleLogic: TaskLogic;
  readonly #ports: LiveTaskPorts;
  readonly #registry: ActorRefFrom<typeof registryMachine>;
  readonly #live = new Map<string, LiveTask>();
  /** Parked tasks, with the time since when; in the order of that time. */
  readonly #parked = new Map<string, number>();
  /** Tasks that were let go of because the disk did not take them. */
  readonly #unrecorded = new Set<string>();

  constructor(options: LiveTasksOptions) {
    const { store, clock, envelope, watchers, log, inspect } = options;
    const live = (id: string): LiveTask => this.#get(id);
    this.#options = options;
    this.#logic = createTaskLogic({
      ...options,
      live,
      onProgress: (id, progress) => watchers.progressed(id, progress),
    });
    this.#idleLogic = createIdleTaskLogic(live);
    this.#ports = {
      store,
      clock,
      envelope,
      capture: options.capture ?? null,
      onCommitted: (task, committed, passed) => this.#onCommitted(task, committed, passed),
      onLost: (task, error) => this.#onLost(task, error),
      onMeasured: options.onMeasured,
    };
    this.#registry = createActor(
      registryMachine.provide({
        actors: {
          watchDeadlines: createWatchDeadlines({
            rows: store.rows,
            clock,
            wake: (id) => this.#wake(id),
          }),
        },
        actions: { buryTask: (_, broken) => this.#bury(broken) },
      }),
      { id: 'registry', ...(inspect === undefined ? {} : { inspect }) },
    );
    this.#registry.system.inspect({ next: (inspected) => this.#inspected(inspected) });
    this.#registry.subscribe({ error: (error) => log.error({ error }, 'registry: failed') });
  }

  /** Starts the registry, which from then on watches the deadlines of all tasks. */
  start(): void {
    this.#registry.start();
    this.#registry.send({ type: 'registry.accept' });
  }

  /** Tells whether new tasks are taken in. */
  get isAccepting(): boolean {
    return this.#registry.getSnapshot().hasTag('accepting');
  }

  /** Tells whether what a restart interrupted is still being dealt with. */
  get isStarting(): boolean {
    return this.#registry.getSnapshot().hasTag('starting');
  }

  /** Takes in no more tasks. */
  drain(): void {
    this.#registry.send({ type: 'registry.drain' });
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
    task.actor = createActor(this.#logic, { id: input.id, parent: this.#registry, input: traced });
    return this.#begin(task);
  }

  /**
   * Returns the live task of an id, bringing it back from the store when it is at rest;
   * `undefined` when it is unknown, final or unreadable. Throws SystemError for a snapshot of a version
   * that nothing leads from.
   */
  activate(id: string): LiveTask | undefined {
    return this.#live.get(id) ?? this.#bringBack(this.#stored(id));
  }

  /**
   * Returns the live task of an id, bringing it back only when it is parked: one that is at work
   * without an actor here may be at work in another process over the same store.
   */
  activateParked(id: string): LiveTask | undefined {
    const live = this.#live.get(id);
    if (live !== undefined) return live;
    const stored = this.#stored(id);
    return stored?.task.state === 'deferred' ? this.#bringBack(stored) : undefined;
  }

  /** Lets a task that was interrupted by a restart end in its own words, with nothing run again. */
  abandon(id: string): void {
    const task = this.#restore(this.#stored(id), this.#idleLogic);
    const event: TaskEvent = { type: 'service.restarted', at: this.#options.clock.now() };
    task?.actor.send(event);
  }

  /** Marks a task that is parked from now on, or still. */
  #noticeParked(task: LiveTask): void {
    this.#parked.delete(task.id);
    if (task.committed?.state !== 'deferred' || this.#live.get(task.id) !== task) return;
    this.#parked.set(task.id, this.#options.clock.now());
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

  /** Puts to rest every task that has been parked for long enough; whoever follows it is told what happens all the same. */
  restParked(): void {
    const until = this.#options.clock.now() - this.#options.restAfter;
    for (const [id, since] of this.#parked) {
      if (since > until) return;
      const task = this.#live.get(id);
      // What it waits to save may end its wait; it is looked at again next time.
      if (task?.isSaving === true) continue;
      this.#parked.delete(id);
      if (task?.committed?.state === 'deferred') this.#rest(task);
    }
  }

  /** Ends every run whose work takes longer than it may. */
  endOverruns(): void {
    const at = this.#options.clock.now();
    for (const task of [...this.#live.values()]) task.endOverrun(at);
  }

  /** Goes on with tasks that were let go of because the disk did not take them, once it does. */
  resumeUnrecorded(): void {
    if (this.#unrecorded.size === 0 || !this.#options.store.isWritable()) return;
    const ids = [...this.#unrecorded];
    this.#unrecorded.clear();
    for (const id of ids) this.#wake(id);
  }

  /** Stops every actor, whatever it does; the store keeps what was saved. */
  stop(): void {
    for (const task of [...this.#live.values()]) this.#rest(task);
    this.#registry.stop();
  }

  /** A snapshot tells where a turn has led; the states on the way are told by its steps alone. */
  #inspected(inspected: InspectionEvent): void {
    if (inspected.type !== '@xstate.microstep') return;
    const { actorRef } = inspected;
    if (actorRef !== this.#registry) this.#live.get((actorRef as AnyActor).id)?.moved(inspected);
  }

  #get(id: string): LiveTask {
    const task = this.#live.get(id);
    if (task === undefined) throw new Error(`task ${id} is not live`);
    return task;
  }

  #begin(task: LiveTask): LiveTask {
    this.#live.set(task.id, task);
    task.actor.start();
    return task;
  }

  #bringBack(stored: StoredTask | undefined): LiveTask | undefined {
    const task = this.#restore(stored, this.#logic);
    if (task === undefined) return undefined;
    this.#noticeParked(task);
    task.goOn(this.#standingOf(task.actor.getSnapshot().context));
    return task;
  }

  /** A call whose start was on disk ran, or may have: only one that does no harm twice runs again. */
  #standingOf({ startedAt, pending: [call] }: TaskContext): StartStanding {
    if (startedAt === null || call === undefined) return 'first';
    return this.#options.tools.get(call.tool)?.idempotent === true ? 'repeatable' : 'unknown';
  }

  #restore(stored: StoredTask | undefined, logic: TaskLogic): LiveTask | undefined {
    if (stored === undefined || isFinal(stored.task.state)) return undefined;
    if (!isKnownVersion(stored.machineVersion)) throw this.#notOurs(stored);
    return this.#begin(this.#restored(stored, logic));
  }

  #restored(stored: StoredTask, logic: TaskLogic): LiveTask {
    const { id } = stored.task;
    try {
      const snapshot = restorable(stored);
      const task = new LiveTask(id, stored, snapshot.context.run?.trace ?? null, this.#ports);
      if (snapshot.value !== undefined) task.resumeFrom(snapshot.value);
      const input = undefined as never;
      task.actor = createActor(logic, { id, parent: this.#registry, snapshot, input });
      return task;
    } catch (error) {
      // It may be a defect of this release, so what is kept stays for another one.
      throw this.#notOurs(stored, error);
    }
  }

  /** Returns what is kept of a task; one whose row cannot be read is ended. */
  #stored(id: string): StoredTask | undefined {
    const stored = this.#options.store.rows.read(id);
    if (stored?.unreadable === undefined || stored.unreadable === null) return stored;
    this.#end(stored);
    return undefined;
  }

  #notOurs({ task: { id }, machineVersion }: StoredTask, cause?: unknown): SystemError {
    const { release, store } = this.#options;
    const savedBy = store.releases.find(machineVersion);
    const other = savedBy === null ? 'the release that saved it' : `release ${savedBy}`;
    return new SystemError(
      'unknown_machine_version',
      `task ${id} was saved by version ${machineVersion} of the task machine, and release ${release}, which runs version ${taskMachineVersion}, cannot go on with it; decide it with ${other}`,
      { cause },
    );
  }

  /** Ends a task whose row cannot be read, so that whoever waits for it hears so. */
  #end(stored: StoredTask): void {
    const { store, clock, envelope, log, watchers, onChanged } = this.#options;
    const { id } = stored.task;
    const write = wordsOfUnreadable(stored, envelope, clock.now());
    log.error({ task_id: id }, 'task: its record cannot be read, so it is ended as failed');
    store
      .save(id, () => write)
      .then(
        () => {
          watchers.changed(write.change.task);
          onChanged(write.change.task);
        },
        (failure: unknown) => {
          log.error({ error: failure, task_id: id }, 'task: could not be ended');
        },
      );
  }

  #rest(task: LiveTask): void {
    this.#live.delete(task.id);
    this.#parked.delete(task.id);
    task.trace.end(task.committed?.state ?? 'submitted');
    this.#registry.send({ type: 'task.rest', ref: task.actor });
  }

  /** Has a task go on: one that was interrupted, and one whose deadline has come. */
  #wake(id: string): void {
    const at = this.#options.clock.now();
    try {
      const task = this.activate(id);
      if (task?.isDue(at) === true) task.actor.send({ type: 'deadline.reached', at });
    } catch (error) {
      this.#options.log.error({ error, task_id: id }, 'task: cannot be brought back to life');
    }
  }

  #bury({ actorId, error }: { actorId: string; error: unknown }): void {
    const task = this.#live.get(actorId);
    if (task === undefined) return;
    this.#options.log.error({ error, task_id: actorId }, 'task: failed inside the service');
    task.crash();
  }

  #onCommitted(task: LiveTask, committed: Task, passed: PassedStates): void {
    const { wakeAt: at } = committed;
    if (at !== null)
      this.#registry.getSnapshot().children.deadlines?.send({ type: 'deadline.known', at });
    if (isFinal(committed.state)) {
      if (this.#live.get(task.id) === task) this.#live.delete(task.id);
    } else this.#noticeParked(task);
    const { watchers } = this.#options;
    if (passed.count > 0 && watchers.wantsSteps(task.id)) {
      for (const step of passed.describe()) watchers.passed(step);
    }
    watchers.changed(committed);
    this.#options.onChanged(committed);
  }

  #onLost(task: LiveTask, error: Error): void {
    if (this.#live.get(task.id) !== task) return;
    this.#options.log.error({ error, task_id: task.id }, 'task: a change could not be saved');
    this.#rest(task);
    if (error instanceof UnrecordedError) this.#unrecorded.add(task.id);
    this.#options.watchers.lost(
      task.id,
      new SystemError('unrecorded', 'the task could not be recorded; try again later', {
        cause: error,
      }),
    );
  }
}

/** Brings what is kept of a task to a snapshot of the present chart. */
function restorable({ snapshot, machineVersion }: StoredTask) {
  const migrated: unknown = rewindCall(migrateSnapshot(snapshot as KeptSnapshot, machineVersion));
  return migrated as Snapshot<unknown> & { value?: StateValue; context: Partial<TaskContext> };
}
