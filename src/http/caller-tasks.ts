import type { PushTarget, PushTargets } from '../actors/ports.ts';
import { SystemError } from '../actors/system-error.ts';
import type {
  AskedCall,
  ChangedQuery,
  PageQuery,
  SaidMessage,
  Session,
  SessionPage,
  SpokenTurn,
  TaskFilter,
  TaskPage,
  TaskQuery,
  TaskRequest,
  TaskSystem,
  Watcher,
} from '../actors/tasks/tasks.ts';
import type { DecisionAttempt } from '../machines/governance/approvers.ts';
import type { DecisionAnswer } from '../machines/governance/decision.ts';
import type { StateHistory } from '../machines/task/entered-state.ts';
import { type Caller, isStanding, type Task } from '../machines/task/task.ts';
import {
  asOwner,
  isSameCaller,
  isWithin,
  mayDecide,
  type OwnedTask,
  ownerOf,
  scopeOf,
  type TaskAccess,
  type TaskScope,
} from '../machines/task/task-access.ts';
import type { MessageAnswer } from '../machines/task/task-events.ts';
import { HeardSince } from './heard-since.ts';
import { TaskChanges } from './task-changes.ts';

export interface CallerTasksPorts {
  system: TaskSystem;
  /** The store of push receivers; `null` when the agent sends none. */
  push: PushTargets | null;
  /** The visibility of tasks between callers. */
  taskAccess: TaskAccess;
}

/**
 * The tasks that one caller may know of: a task of another owner is answered as unknown
 * (docs/contract/authentication.md). Routes reach tasks through it alone.
 */
export class CallerTasks {
  readonly #system: TaskSystem;
  readonly #caller: Caller | null;
  readonly #scope: TaskScope;
  readonly #push: PushTargets | null;
  /** Tasks that this request has begun or been shown, and may follow. */
  readonly #known = new Set<string>();
  /** What the task has done that this request has begun, until somebody follows it. */
  #heard: HeardSince | null = null;
  /** What changes of the caller's tasks. */
  readonly changes: TaskChanges;

  constructor({ system, push, taskAccess }: CallerTasksPorts, caller: Caller | null) {
    this.#system = system;
    this.#caller = caller;
    this.#scope = scopeOf(taskAccess, caller);
    this.#push = push;
    this.changes = new TaskChanges(system, this.#scope);
  }

  /** The push receivers of the caller's tasks, with ownership checked on registration; `null` without push. */
  get push(): PushTargets | null {
    return this.#push === null ? null : this.#own(this.#push);
  }

  /**
   * Starts work for the caller and returns the id of its task; `isFollowed` keeps what the task does for who follows it
   * as soon as that is known. Throws SystemError; `unknown_task` for the id
   * of another owner's task, which stays untouched and undisclosed.
   */
  async open(
    request: Omit<TaskRequest, 'requester' | 'onBegun'>,
    isFollowed = false,
  ): Promise<string> {
    if (request.id !== undefined) await this.#refuseForeign(request.id);
    const heard = isFollowed ? new HeardSince(this.#system.watchers) : null;
    const onBegun = heard === null ? {} : { onBegun: (begun: string) => heard.listen(begun) };
    try {
      const id = await this.#system.open({ ...request, requester: this.#caller, ...onBegun });
      // The task of an earlier message of the caller may have another owner by now.
      if (request.isKnownById === true && id !== request.id) await this.#refuseForeign(id);
      this.#known.add(id);
      this.#heard = heard;
      if (id !== request.id && request.id !== undefined) heard?.forget();
      return id;
    } catch (error) {
      heard?.forget();
      throw error;
    }
  }

  /**
   * Starts one call for the caller, or finds the equal one that it has already. Returns its task, and whether that is new.
   * Throws SystemError.
   */
  async openCall(
    request: Omit<TaskRequest, 'requester' | 'onBegun' | 'id'>,
    call: AskedCall,
  ): Promise<{ id: string; isNew: boolean }> {
    const opened = await this.#system.openCall({ ...request, requester: this.#caller }, call);
    this.#known.add(opened.id);
    return opened;
  }

  /** Counts one more request for the call that a task waits with. Throws SystemError. */
  async joinCall(id: string): Promise<void> {
    await this.#refuseForeign(id);
    await this.#system.joinCall(id);
  }

  /** Notes that the caller has received what a call came to. Rejects with the error of the store. */
  async receivedCall(task: Task, call: AskedCall): Promise<void> {
    await this.#system.receivedCall(task, call);
  }

  /** Returns the task with an alias, as committed to disk; only those of a store that daemons share have one. */
  async findByAlias(alias: string): Promise<Task | undefined> {
    const id = await this.#system.reads.findByAlias(alias);
    return id === undefined ? undefined : this.findOwn(id);
  }

  /** Returns a task of the caller alone, as committed to disk. */
  async findOwn(id: string): Promise<Task | undefined> {
    const task = await this.find(id);
    const owner = this.#caller && asOwner(this.#caller);
    return task !== undefined && isSameCaller(ownerOf(task), owner) ? task : undefined;
  }

  /** Returns the id of the task of a message of the caller that is a repeat, which is recorded. Throws SystemError. */
  async findBySent(said: Omit<SaidMessage, 'requester'>): Promise<string | undefined> {
    const id = await this.#system.reads.findBySent({ ...said, requester: this.#caller });
    if (id !== undefined) await this.#refuseForeign(id);
    return id;
  }

  /**
   * Puts a message of the caller to a task that waits, and returns the task's answer once it is on disk, with
   * the task that it led to. Rejects with SystemError.
   */
  async say(
    id: string,
    said: Omit<SaidMessage, 'requester'>,
  ): Promise<{ taskId: string; answer: MessageAnswer }> {
    await this.#refuseForeign(id);
    const { taskId, answer } = await this.#system.say(id, { ...said, requester: this.#caller });
    if (taskId !== id) await this.#refuseForeign(taskId);
    return { taskId, answer };
  }

  /** Returns a task as committed to disk. */
  async find(id: string): Promise<Task | undefined> {
    return this.#visible(await this.#system.reads.find(id));
  }

  /** Returns the states of the chart that a task of the caller has entered, as they stand on disk. Throws SystemError. */
  async statesOf(id: string): Promise<StateHistory> {
    await this.#refuseForeign(id);
    return this.#system.reads.statesOf(id);
  }

  /**
   * Returns the way of a task of the caller as inspection events, redacted; `null` while the inspector is off. Throws
   * SystemError.
   */
  async inspectionOf(id: string): Promise<object[] | null> {
    await this.#refuseForeign(id);
    return this.#system.reads.inspectionOf(id);
  }

  /** Returns the task that waits on a deferral. */
  async findByDeferral(deferralId: string): Promise<Task | undefined> {
    return this.#visible(await this.#system.reads.findByDeferral(deferralId));
  }

  /** Lists tasks, the one that was made last first. */
  list(query: TaskQuery): Promise<TaskPage> {
    return this.#system.reads.list(query, this.#scope);
  }

  /** Lists tasks that wait for a decision, the one whose deadline comes first at the front. */
  listWaiting(page: PageQuery): Promise<TaskPage> {
    return this.#system.reads.listWaiting(page, this.#scope);
  }

  /** Lists the sessions of the caller alone, the one that changed last first. */
  listSessions(page: { limit: number; cursor?: string }): Promise<SessionPage> {
    return this.#system.sessions.list(this.#caller, page);
  }

  /** Returns a session of the caller alone. */
  findSession(id: string): Promise<Session | undefined> {
    return this.#system.sessions.find(id, this.#caller);
  }

  /** Lists tasks, the one whose state changed last first. */
  listChanged(query: ChangedQuery): Promise<TaskPage> {
    return this.#system.reads.listChanged(query, this.#scope);
  }

  /** Counts the tasks that a listing without its pages would show, up to a limit of its own. */
  total(filter: TaskFilter): Promise<number> {
    return this.#system.reads.total(filter, this.#scope);
  }

  /**
   * Follows a task from now on, which this request has begun or found before; the returned function stops it. Throws
   * SystemError.
   */
  watch(id: string, watcher: Watcher): () => void {
    this.#refuseUnknown(id);
    const leave = this.#system.watchers.watch(id, watcher);
    this.#heard?.tell(id, watcher);
    return leave;
  }

  /** Returns the turn that the model of a task is taking, which this request has begun or found. Throws SystemError. */
  spoken(id: string): SpokenTurn | undefined {
    this.#refuseUnknown(id);
    return this.#system.watchers.spoken(id);
  }

  /** Resolves with a task that this request has begun or found, once it is final. Rejects with the signal's reason, or with SystemError. */
  async settled(id: string, signal: AbortSignal): Promise<Task> {
    this.#refuseUnknown(id);
    this.#heard?.forget();
    return this.#system.watchers.settled(id, signal);
  }

  /** Resolves with a task once it goes on no further by itself. Rejects as `settled` does. */
  async standing(id: string, signal: AbortSignal): Promise<Task> {
    this.#refuseUnknown(id);
    this.#heard?.forget();
    return this.#system.watchers.settled(id, signal, isStanding);
  }

  /** Puts a decision to a task and returns its answer. Rejects with SystemError. */
  async decide(id: string, attempt: DecisionAttempt): Promise<DecisionAnswer> {
    if (await this.#isForeign(id, mayDecide)) return { kind: 'notPending' };
    return this.#system.decide(id, attempt);
  }

  /** Calls a task off and returns it; a final one is returned as it is. Rejects with SystemError. */
  async cancel(id: string, reason: string): Promise<Task | undefined> {
    return (await this.#isForeign(id)) ? undefined : this.#system.cancel(id, reason);
  }

  /** Tells a task that the caller of its stream has left. */
  async callerLeft(id: string): Promise<void> {
    if (!(await this.#isForeign(id))) await this.#system.callerLeft(id);
  }

  #visible(task: Task | undefined): Task | undefined {
    if (task === undefined || !isWithin(this.#scope, task)) return undefined;
    this.#known.add(task.id);
    return task;
  }

  /** Tells whether another owner has a task of that id. */
  async #isForeign(
    id: string,
    isAllowed: (scope: TaskScope, task: OwnedTask) => boolean = isWithin,
  ): Promise<boolean> {
    if (this.#scope.kind === 'all') return false;
    const task = await this.#system.reads.whose(id);
    return task !== undefined && !isAllowed(this.#scope, task);
  }

  async #refuseForeign(id: string): Promise<void> {
    if (!this.#known.has(id) && (await this.#isForeign(id))) throw unknownTask();
    this.#known.add(id);
  }

  #refuseUnknown(id: string): void {
    if (!this.#known.has(id)) throw unknownTask();
  }

  #own(push: PushTargets): PushTargets {
    return {
      set: async (target: PushTarget) => {
        await this.#refuseForeign(target.taskId);
        return push.set(target);
      },
      find: async (taskId, id) =>
        (await this.#isForeign(taskId)) ? undefined : push.find(taskId, id),
      list: async (taskId) => ((await this.#isForeign(taskId)) ? [] : push.list(taskId)),
      delete: async (taskId, id) => !(await this.#isForeign(taskId)) && push.delete(taskId, id),
    };
  }
}

function unknownTask(): SystemError {
  return new SystemError('unknown_task', 'task not found');
}
