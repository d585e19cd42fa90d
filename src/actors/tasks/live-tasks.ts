import { setImmediate as turn } from 'node:timers/promises';
import { createActor, type InspectionEvent, type Observer } from 'xstate';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { causes } from '../../machines/task/entered-state.ts';
import { isKnownVersion } from '../../machines/task/snapshot-steps.ts';
import type { TaskEvent } from '../../machines/task/task-events.ts';
import type { TaskContext, TaskInput } from '../../machines/task/task-input.ts';
import type { taskMachine } from '../../machines/task/task-machine.ts';
import type { Every } from '../every.ts';
import { wouldRuleAgain } from '../governance/governance.ts';
import type { EgressRecord } from '../ports/egress.ts';
import {
  ConflictError,
  type SentMessage,
  type StoredTask,
  type TaskStore,
  UnrecordedError,
} from '../records/records.ts';
import { SystemError, shuttingDown } from '../system-error.ts';
import { claimed, isStandingStill } from './claimed-task.ts';
import { HoldAccounts } from './hold-accounts.ts';
import { LiveTask, type LiveTaskPorts, type Saved, type TaskSnapshot } from './live-task.ts';
import { type Measured, measuredHold } from './measured.ts';
import { restoreTask, standingOf, UnrestorableError, unknownVersion } from './restore-task.ts';
import type { SpokenTurns } from './spoken-turn.ts';
import { mayRepeat, rulingAtRelease, stillHolds } from './still-holds.ts';
import { createIdleTaskLogic, createTaskLogic, type TaskLogicPorts } from './task-logic.ts';
import { type BrokenTask, TaskRegistry } from './task-registry.ts';
import { endUnreadable } from './unreadable-task.ts';
import { Upkeep } from './upkeep.ts';
import type { Watchers } from './watchers.ts';

export interface LiveTasksOptions
  extends Omit<
    TaskLogicPorts,
    'ledger' | 'live' | 'hasEnded' | 'onProgress' | 'onToolProgress' | 'speak'
  > {
  store: TaskStore;
  envelope: LiveTaskPorts['envelope'];
  /** Captures contents for the audit log; absent if disabled. */
  capture?: LiveTaskPorts['capture'];
  vocabulary?: LiveTaskPorts['vocabulary'];
  watchers: Watchers;
  spoken: Pick<SpokenTurns, 'start'>;
  inspect?: Observer<InspectionEvent>;
  /** Receives measurements of tasks for the metrics. */
  onMeasured: (measured: Measured) => void;
  /** Time after which a parked task without followers is unloaded from memory, in milliseconds. */
  restAfter: number;
  /** Timer for periodic work; this machine's timers when absent. */
  every?: Every;
  /** The running release, named in errors for tasks of another one. */
  release: string;
  /** True if other daemons share the tasks: a running task without an actor here then belongs to another daemon. */
  isShared: boolean;
}

/** How a task is opened. */
interface Opened {
  /** Registers the message of the task for recognition; `null` for none. */
  sent: SentMessage | null;
  /** True for the first task of a session that no caller can name yet. */
  isAlone: boolean;
}

type TaskLogic = typeof taskMachine;
type TaskScope = Parameters<TaskLogic['transition']>[2];

/**
 * Tasks with an actor, at most one for each id. A parked task is unloaded to the store, even if followed, and reloaded
 * by its next event, so waiting for days costs no memory.
 */
export class LiveTasks {
  readonly registry: TaskRegistry;
  /** Decided calls that other programs run. */
  readonly holds: HoldAccounts;
  readonly #options: LiveTasksOptions;
  readonly #logic: TaskLogic;
  readonly #idleLogic: TaskLogic;
  readonly #ports: LiveTaskPorts;
  readonly #live = new Map<string, LiveTask>();
  /** Unloaded tasks whose last save is still pending. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  readonly #upkeep: Upkeep;
  #isStopped = false;
  #areRulingsOwn = false;

  constructor(options: LiveTasksOptions) {
    const { store, clock, envelope, watchers, spoken } = options;
    const live = (id: string): LiveTask => this.#get(id);
    this.#options = options;
    const find = (id: string): LiveTask | undefined => this.#live.get(id);
    this.#logic = seenBy(
      find,
      createTaskLogic({
        ...options,
        ledger: store.ledger,
        live,
        hasEnded: (id) => this.#hasEnded(id),
        onProgress: (id, progress) => watchers.progressed(id, progress),
        onToolProgress: (id, report) => watchers.reported(id, report),
        speak: (id) => spoken.start(id),
      }),
    );
    this.#idleLogic = seenBy(find, createIdleTaskLogic(live));
    this.#ports = {
      store,
      clock,
      envelope,
      policySha256: () => options.policies.current.sha256,
      mayHold: (tool) => options.policies.current.policy.mayHold(tool),
      capture: options.capture ?? null,
      vocabulary: options.vocabulary ?? 'holdpoint',
      onCommitted: (task, saved) => this.#onCommitted(task, saved),
      onLost: (task, error) => this.#onLost(task, error),
      onMeasured: options.onMeasured,
    };
    this.holds = new HoldAccounts({
      ...options,
      rulingOf: (task) =>
        rulingAtRelease(task, {
          ...options,
          measure: (asked) => store.ledger.measure(asked, clock.now()),
        }),
      onChanged: (task, before) => this.#holdChanged(task, before),
    });
    const bury = (broken: BrokenTask): void => this.#bury(broken);
    const wake = (id: string): void => void this.#wake(id);
    const rest = (task: LiveTask): void => this.#rest(task);
    const rows = options.isShared ? null : store.rows;
    this.registry = new TaskRegistry({ ...options, rows, wake, bury });
    this.#upkeep = new Upkeep({ ...options, live: this.#live, rest, wake });
  }

  /** Starts accepting tasks and maintaining all of them. */
  start(): void {
    this.registry.start();
    this.#upkeep.start();
  }

  /** Returns the ids of running tasks; parked ones are excluded. */
  atWork(): string[] {
    return [...this.#live.values()]
      .filter((task) => task.committed?.state !== 'deferred')
      .map(({ id }) => id);
  }

  /** Number of tasks with an actor. */
  get size(): number {
    return this.#live.size;
  }

  /** Returns the live task of an id, if any. */
  find(id: string): LiveTask | undefined {
    return this.#live.get(id);
  }

  /** Starts a task, or a new run of a finished one. */
  open(input: TaskInput, stored: StoredTask | undefined, { sent, isAlone }: Opened): LiveTask {
    const task = new LiveTask(input.id, stored, input.trace, this.#ports);
    task.isAlone = isAlone;
    if (sent !== null) task.keep(sent);
    // An actor takes its first steps during creation, so the task must be registered before.
    this.#live.set(task.id, task);
    // A new trace is stored, so that the run continues in it after a restart.
    const traced = { ...input, trace: input.trace ?? task.trace.traceParent };
    task.actor = createActor(this.#logic, {
      id: input.id,
      parent: this.registry.actor,
      input: traced,
    });
    return this.#begin(task);
  }

  /**
   * Returns the live task of an id, and reloads it from the store if necessary; `undefined` if it is unknown, final or
   * unreadable. Throws SystemError for a snapshot version without a migration.
   */
  async activate(id: string): Promise<LiveTask | undefined> {
    return this.#live.get(id) ?? this.#awaken(await this.#stored(id));
  }

  /**
   * Returns the live task of an id, and reloads it only if it is parked: a running task without an actor here may run
   * in another process over the same store.
   */
  async activateParked(id: string): Promise<LiveTask | undefined> {
    const live = this.#live.get(id);
    if (live !== undefined) return live;
    const stored = await this.#stored(id);
    return stored?.task.state === 'deferred' ? this.#awaken(stored) : undefined;
  }

  /**
   * Returns the live task of an id for an event that ends it. A task that may be running on another daemon is loaded
   * with inert ports, so that nothing runs twice.
   */
  async activateToEnd(id: string): Promise<LiveTask | undefined> {
    const live = this.#live.get(id);
    if (live !== undefined) return live;
    const stored = await this.#stored(id);
    const isElsewhere = this.#options.isShared && stored?.task.state !== 'deferred';
    return isElsewhere ? this.#restore(stored, this.#idleLogic) : this.#awaken(stored);
  }

  /** Ends an interrupted task through its own chart; nothing is executed again. */
  async abandon(id: string): Promise<LiveTask | undefined> {
    const task = await this.#restore(await this.#stored(id), this.#idleLogic);
    const event: TaskEvent = { type: 'service.restarted', at: this.#options.clock.now() };
    task?.actor.send(event);
    return task;
  }

  /**
   * Resumes a running task whose daemon is dead. Saves the task first, so that a daemon that was merely disconnected
   * can no longer commit. Rejects with ConflictError if another daemon was faster.
   */
  async resume(id: string): Promise<void> {
    const stored = await this.#stored(id);
    if (stored === undefined || isStandingStill(stored)) return;
    // Leaves the task to a release that can resume it.
    if (!isKnownVersion(stored.machineVersion)) throw await unknownVersion(stored, this.#options);
    await this.#awaken(await claimed(stored, this.#options.store));
  }

  /** True once this release has ruled on every waiting call. Daemons of other releases may rule on shared ones. */
  get areRulingsOwn(): boolean {
    return this.#areRulingsOwn && !this.#options.isShared;
  }

  /** Marks every waiting call as ruled on by this release. */
  noticeReviewed(): void {
    this.#areRulingsOwn = true;
  }

  /** Returns whether new rulings on the calls of a stored ruling could only be the same; `made` is its JSON. */
  wouldRuleAgain(made: string): Promise<boolean> {
    return wouldRuleAgain(made, this.#options);
  }

  /**
   * Re-evaluates the held call of a parked task under the current policy, and ends the wait if the ruling has changed.
   */
  async review(id: string): Promise<void> {
    const stored = await this.#stored(id);
    if (stored?.task.state !== 'deferred' || !isKnownVersion(stored.machineVersion)) return;
    try {
      if (await stillHolds(stored, this.#governing)) return;
    } catch (error) {
      if (!(error instanceof UnrestorableError)) throw error;
      throw await unknownVersion(stored, this.#options, error.cause);
    }
    const task = await this.activateParked(id);
    task?.actor.send({ type: 'policy.changed', at: this.#options.clock.now() });
  }

  /** Unloads a task that another daemon has changed; it is reloaded when needed. */
  letGo(id: string, revision: number): void {
    const task = this.#live.get(id);
    if (task === undefined || task.revision >= revision) return;
    this.#leave(task);
  }

  /**
   * Unloads an outdated task. Its pending save is awaited and fails first, so that no other state is saved in its
   * place.
   */
  #leave(task: LiveTask): void {
    const { id } = task;
    this.#rest(task);
    const leaving = task.saved().catch(() => undefined);
    this.#leaving.set(id, leaving);
    void leaving.then(() => this.#leaving.get(id) === leaving && this.#leaving.delete(id));
  }

  /**
   * Records an egress ruling with its live task; returns false if the task is no longer running, in which case the
   * caller must record it.
   */
  noteEgress({ scope, domain, mode, reason }: EgressRecord): boolean {
    const id = scope?.taskId ?? null;
    const task = id === null ? undefined : this.#live.get(id);
    if (task?.actor.getSnapshot().status !== 'active') return false;
    task.actor.send({ type: 'egress.judged', domain, mode, reason });
    return true;
  }

  /** True once the system has stopped. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Stops every actor immediately; committed data remains in the store. */
  stop(): void {
    this.#isStopped = true;
    this.#upkeep.stop();
    for (const task of [...this.#live.values()]) this.#rest(task);
    this.registry.stop();
  }

  get #governing() {
    return { ...this.#options, ...this.#options.policies.current };
  }

  #get(id: string): LiveTask {
    const task = this.#live.get(id);
    if (task === undefined) throw new Error(`task ${id} is not live`);
    return task;
  }

  #begin(task: LiveTask): LiveTask {
    task.actor.start();
    task.moved(task.actor.getSnapshot(), causes.resumed);
    return task;
  }

  /** Reloads a task and resumes it. */
  async #awaken(stored: StoredTask | undefined): Promise<LiveTask | undefined> {
    const isBarred = (await this.#mayRepeat(stored)) === false;
    return this.#restore(stored, this.#logic, (task) => {
      this.#upkeep.noticeParked(task);
      const standing = standingOf(task.actor.getSnapshot().context, this.#options.tools);
      task.goOn(isBarred ? 'unknown' : standing);
    });
  }

  /** Returns whether the repeatable call of a stored task may still run; `null` if there is none. */
  async #mayRepeat(stored: StoredTask | undefined): Promise<boolean | null> {
    if (stored === undefined || isStandingStill(stored)) return null;
    try {
      const context = restoreTask(stored, (snapshot) => snapshot.context) as TaskContext;
      if (standingOf(context, this.#options.tools) !== 'repeatable') return null;
      return await mayRepeat(context, this.#governing);
    } catch (error) {
      // The error is reported when the task is restored.
      if (error instanceof UnrestorableError) return null;
      throw error;
    }
  }

  /**
   * Reloads a task. Of several concurrent callers only the first does, and runs `begun` before any of them continues.
   */
  async #restore(
    stored: StoredTask | undefined,
    logic: TaskLogic,
    begun: (task: LiveTask) => void = () => undefined,
  ): Promise<LiveTask | undefined> {
    if (stored === undefined || isFinal(stored.task.state)) return undefined;
    const live = this.#live.get(stored.task.id);
    if (live !== undefined) return live;
    // The system may have stopped during the read.
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

  /** Returns the stored task; a task whose row is unreadable is ended. */
  async #stored(id: string): Promise<StoredTask | undefined> {
    await this.#leaving.get(id);
    const stored = await this.#options.store.rows.read(id);
    if (stored?.unreadable === undefined || stored.unreadable === null) return stored;
    endUnreadable(stored, this.#options);
    return undefined;
  }

  /** Returns whether a task that was aborted here has ended; a task without an actor may continue elsewhere. */
  async #hasEnded(id: string): Promise<boolean> {
    // The actor is aborted before its next state is known.
    await turn();
    const live = this.#live.get(id);
    if (live !== undefined) return live.actor.getSnapshot().status !== 'active';
    if (this.#isStopped) return false;
    const stored = await this.#options.store.rows.read(id);
    return stored !== undefined && isFinal(stored.task.state);
  }

  #rest(task: LiveTask): void {
    this.#live.delete(task.id);
    this.#upkeep.forget(task.id);
    task.trace.end(task.committed?.state ?? 'submitted');
    task.seal();
    this.registry.rest(task.actor);
  }

  /** Resumes an interrupted task, or a task whose deadline has passed. */
  async #wake(id: string): Promise<void> {
    const at = this.#options.clock.now();
    try {
      const { isShared } = this.#options;
      const task = await (isShared ? this.activateParked(id) : this.activate(id));
      if (task === undefined) await this.holds.overdue(id, at);
      else if (task.isDue(at)) task.actor.send({ type: 'deadline.reached', at });
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

  #holdChanged(task: Task, before: Task): void {
    if (task.wakeAt !== null) this.registry.watchDeadline(task.wakeAt);
    const measured = measuredHold(before, task);
    if (measured !== null) this.#options.onMeasured(measured);
    this.#options.watchers.changed(task, before);
  }

  #onLost(task: LiveTask, error: Error): void {
    if (this.#live.get(task.id) !== task) return;
    this.#leave(task);
    // Local followers are notified of the change that won the conflict.
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

/**
 * Shows each state of a task to its live task. Inspection shows the same, but makes an event of every action of every
 * actor.
 */
function seenBy(find: (id: string) => LiveTask | undefined, logic: TaskLogic): TaskLogic {
  const transition = logic.transition.bind(logic);
  const getInitialSnapshot = logic.getInitialSnapshot.bind(logic);
  const see = ({ id, self }: TaskScope, snapshot: TaskSnapshot, event: string): TaskSnapshot => {
    find(id)?.moved(snapshot, event, self);
    return snapshot;
  };
  return Object.assign(logic, {
    getInitialSnapshot: (scope, input) =>
      see(scope, getInitialSnapshot(scope, input), 'xstate.init'),
    transition: (snapshot, event, scope) =>
      see(scope, transition(snapshot, event, scope), event.type),
  } satisfies Partial<TaskLogic>);
}
