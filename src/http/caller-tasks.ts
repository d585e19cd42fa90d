import type {
  KeyStanding,
  OutcomePage,
  OutcomeQuery,
  Settlement,
  StatementEvent,
} from '../actors/ports/ledger.ts';
import type { PushTarget, PushTargets } from '../actors/ports/push.ts';
import { SystemError, uncheckedMember } from '../actors/system-error.ts';
import type {
  AskedCall,
  ChangedHold,
  ChangedQuery,
  OpenedHold,
  OutcomeAnswer,
  PageQuery,
  SaidMessage,
  Session,
  SessionPage,
  SpokenTurn,
  Subscriber,
  TaskFilter,
  TaskPage,
  TaskQuery,
  TaskRequest,
  TaskSystem,
} from '../actors/tasks/tasks.ts';
import type { Grant } from '../machines/domain/grant.ts';
import type { HoldOutcome, HoldRequest } from '../machines/domain/hold.ts';
import type { LimitStanding, OpenOutcome } from '../machines/domain/ledger.ts';
import { type Caller, isFinal, isStanding, type Task } from '../machines/domain/task.ts';
import {
  type DecisionAttempt,
  maySeeWhole,
  runtimeProvider,
} from '../machines/governance/approvers.ts';
import type { DecisionAnswer } from '../machines/governance/decision.ts';
import type { Sees } from '../machines/governance/limit-json.ts';
import { isSameName, isSamePerson } from '../machines/governance/same-person.ts';
import type { Standing } from '../machines/governance/standing.ts';
import type { JsonObject } from '../machines/json.ts';
import type { StateHistory } from '../machines/task/entered-state.ts';
import {
  asOwner,
  isSameCaller,
  isWithin,
  mayDecide,
  ownerOf,
  scopeOf,
  type TaskAccess,
  type TaskScope,
} from '../machines/task/task-access.ts';
import type { MessageAnswer } from '../machines/task/task-events.ts';
import { TaskChanges } from './task-changes.ts';

export interface CallerTasksPorts {
  system: TaskSystem;
  /** The store of push receivers; `null` if the agent sends no push notifications. */
  push: PushTargets | null;
  /** Visibility of tasks between callers. */
  taskAccess: TaskAccess;
}

/**
 * The tasks that one caller may see. Another owner's task is reported as unknown (docs/contract/authentication.md).
 * Routes access tasks only through this class.
 */
export class CallerTasks {
  readonly #system: TaskSystem;
  readonly #caller: Caller | null;
  readonly #taskAccess: TaskAccess;
  #scope: TaskScope;
  readonly #push: PushTargets | null;
  /** Tasks that this request started or read, and may follow. */
  readonly #known = new Set<string>();
  /** The entries of approver lists that the caller fulfils. */
  who: Standing;
  /** Changes of the caller's tasks. */
  readonly changes: TaskChanges;

  constructor({ system, push, taskAccess }: CallerTasksPorts, caller: Caller | null) {
    this.#system = system;
    this.#caller = caller;
    this.#taskAccess = taskAccess;
    this.who = this.#standing();
    // A read does not wait for the members of a group; the next request of a member sees them.
    if (this.who.unchecked !== undefined) void system.people.refresh(system.now());
    this.#scope = scopeOf(taskAccess, caller, this.who);
    this.#push = push;
    this.changes = new TaskChanges(system, this.#scope);
  }

  /** The push receivers of the caller's tasks, with an ownership check at registration; `null` without push. */
  get push(): PushTargets | null {
    return this.#push === null ? null : this.#own(this.#push);
  }

  /**
   * Starts a task for the caller and returns its ID. `subscriber` subscribes to a new task before it starts. Throws
   * SystemError, with `unknown_task` for another owner's task ID. That task stays unchanged and undisclosed.
   */
  async open(request: Omit<TaskRequest, 'requester'>, subscriber?: Subscriber): Promise<string> {
    if (request.id !== undefined) await this.#refuseForeign(request.id);
    const id = await this.#system.open({ ...request, requester: this.#caller }, subscriber);
    // The task of the caller's earlier message may belong to another owner now.
    if (request.isKnownById === true && id !== request.id) await this.#refuseForeign(id);
    this.#known.add(id);
    return id;
  }

  /**
   * Starts one call for the caller, or finds the caller's equal waiting call. Returns its task and whether it is new.
   * Throws SystemError.
   */
  async openCall(
    request: Omit<TaskRequest, 'requester' | 'id'>,
    call: AskedCall,
  ): Promise<{ id: string; isNew: boolean }> {
    const opened = await this.#system.openCall({ ...request, requester: this.#caller }, call);
    this.#known.add(opened.id);
    return opened;
  }

  /** Starts a hold of the caller, or finds the caller's hold with the same key. Throws SystemError. */
  async openHold(
    request: Omit<TaskRequest, 'requester' | 'id' | 'calls' | 'hold'>,
    args: JsonObject,
    hold: Omit<HoldRequest, 'askedSha256'>,
  ): Promise<OpenedHold> {
    const opened = await this.#system.holds.open(
      { ...request, requester: this.#caller },
      args,
      hold,
    );
    this.#known.add(opened.id);
    return opened;
  }

  /** Returns the id of the caller's hold with a key. */
  async findHold(key: string): Promise<string | undefined> {
    const id = await this.#system.holds.find(this.#caller, key);
    if (id !== undefined) this.#known.add(id);
    return id;
  }

  /**
   * Records that a process of the caller receives its approved call, unless the policy in force forbids it. Returns the
   * hold, and whether it changed. Rejects with SystemError.
   */
  async takeHold(id: string, claim?: string): Promise<ChangedHold> {
    this.#refuseUnknown(id);
    return this.#system.holds.take(id, claim);
  }

  /** Records the outcome of a call that the caller ran. Rejects with SystemError. */
  async closeHold(id: string, outcome: HoldOutcome): Promise<OutcomeAnswer> {
    this.#refuseUnknown(id);
    return this.#system.holds.close(id, outcome);
  }

  /** Returns the releases of later calls that the caller gave or profits from; all for the daemon itself. */
  async grants(): Promise<Grant[]> {
    const all = await this.#system.remembering.all();
    return all.filter((one) => this.#isOfGrant(one));
  }

  /** Ends a release of later calls that the caller may see; returns it, or `undefined` if there is none. */
  async revokeGrant(id: string): Promise<Grant | undefined> {
    const found = (await this.grants()).find((one) => one.id === id);
    return found === undefined ? undefined : this.#system.remembering.revoke(id);
  }

  /** Returns the limits that count calls of the caller; all of them for the daemon itself. */
  async limits(): Promise<LimitStanding[]> {
    const all = await this.#system.limits.standings();
    return all.filter((one) => this.#isOfLimit(one));
  }

  /** Lists the calls of the caller's tasks whose outcome nobody knows, and those that people settled, newest first. */
  async outcomes(query: OutcomeQuery): Promise<OutcomePage> {
    const { outcomes, cursor } = await this.#system.limits.outcomes(query);
    if (this.#scope.kind === 'all') return { outcomes, cursor };
    const visible = await Promise.all(outcomes.map((one) => this.#isOwnOutcome(one)));
    return { outcomes: outcomes.filter((_, index) => visible[index]), cursor };
  }

  /** Returns a call whose outcome nobody knew. */
  async outcome(callId: string): Promise<OpenOutcome | undefined> {
    const found = await this.#system.limits.outcome(callId);
    return found !== undefined && (await this.#isOwnOutcome(found)) ? found : undefined;
  }

  /** Stores the statement of a person on a call whose outcome nobody knows, with its event. */
  settle(callId: string, settled: Settlement, event: StatementEvent) {
    return this.#system.limits.settle(callId, settled, event);
  }

  /** Values of other callers, organisations and sessions, and computed ones, are for the daemon alone. */
  #isOfLimit({ key }: KeyStanding): boolean {
    if (this.#scope.kind === 'all' || key === '') return true;
    const caller = this.#caller;
    const own: Record<string, unknown> = {
      caller: caller === null ? null : [caller.provider, caller.userId],
      org: caller?.orgId ?? null,
    };
    return Object.entries(JSON.parse(key) as Record<string, unknown>).every(
      ([name, value]) =>
        name === 'tool' ||
        name === 'agent' ||
        (name in own && JSON.stringify(own[name]) === JSON.stringify(value)),
    );
  }

  /** Of a task that is not stored any more, nobody but the daemon learns. */
  async #isOwnOutcome({ taskId }: OpenOutcome): Promise<boolean> {
    if (this.#scope.kind === 'all') return true;
    const task = await this.#system.reads.whose(taskId);
    return task !== undefined && isWithin(this.#scope, task);
  }

  #isOfGrant({ approver, for: delegator, requester }: Grant): boolean {
    const caller = this.#caller;
    if (caller === null) return requester === null;
    if (caller.provider === runtimeProvider) return true;
    const isOwn = requester?.provider === caller.provider && requester.userId === caller.userId;
    const names = [approver, delegator];
    return isOwn || names.some((name) => isSameName(name, caller.email));
  }

  /** Counts one more request for a waiting task's call. Throws SystemError. */
  async joinCall(id: string): Promise<void> {
    await this.#refuseForeign(id);
    await this.#system.joinCall(id);
  }

  /** Records that the caller's client has answered the address of the page for a waiting call. Throws SystemError. */
  async showedLink(id: string): Promise<void> {
    await this.#refuseForeign(id);
    await this.#system.showedLink(id);
  }

  /** Records that the caller has received a call's result. Rejects with the error of the store. */
  async receivedCall(task: Task, call: AskedCall): Promise<void> {
    await this.#system.receivedCall(task, call);
  }

  /** Returns the task with an alias, as committed to disk. Only tasks in a shared store have aliases. */
  async findByAlias(alias: string): Promise<Task | undefined> {
    const id = await this.#system.reads.findByAlias(alias);
    return id === undefined ? undefined : this.findOwn(id);
  }

  /** Returns a task as committed to disk, only if the caller owns it. */
  async findOwn(id: string): Promise<Task | undefined> {
    const task = await this.find(id);
    const owner = this.#caller && asOwner(this.#caller);
    return task !== undefined && isSameCaller(ownerOf(task), owner) ? task : undefined;
  }

  /** Returns the task ID of a repeated message of the caller and records the repetition. Throws SystemError. */
  async findBySent(said: Omit<SaidMessage, 'requester'>): Promise<string | undefined> {
    const id = await this.#system.reads.findBySent({ ...said, requester: this.#caller });
    if (id !== undefined) await this.#refuseForeign(id);
    return id;
  }

  /**
   * Sends the caller's message to a waiting task. Once the answer is on disk, returns it with the resulting task.
   * Rejects with SystemError.
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

  /** Returns the chart states that a caller's task has entered, as committed to disk. Throws SystemError. */
  async statesOf(id: string): Promise<StateHistory> {
    await this.#refuseForeign(id);
    return this.#system.reads.statesOf(id);
  }

  /**
   * Returns the redacted inspection events of a caller's task; `null` while the inspector is off. Throws SystemError.
   */
  async inspectionOf(id: string): Promise<object[] | null> {
    await this.#refuseForeign(id);
    return this.#system.reads.inspectionOf(id);
  }

  /** Returns the task of a deferral. */
  async findByDeferral(deferralId: string): Promise<Task | undefined> {
    return this.#visible(await this.#system.reads.findByDeferral(deferralId));
  }

  /**
   * Returns whose earlier calls the caller may know: those of requesters whose tasks it may read, and all where it decides on the
   * call that a task waits with.
   */
  sees({ deferral, requester }: Task): Sees {
    const caller = this.#caller;
    const isOwn = caller === null || isSamePerson(caller, requester);
    const decides =
      deferral !== null && !isOwn && maySeeWhole(deferral, caller, requester, this.who);
    const ofNobody = { deferral: null, settled: null };
    return (earlier) => decides || isWithin(this.#scope, { requester: earlier, ...ofNobody });
  }

  /** Lists tasks, newest first. */
  list(query: TaskQuery): Promise<TaskPage> {
    return this.#system.reads.list(query, this.#scope);
  }

  /** Lists tasks waiting for a decision, earliest deadline first. */
  listWaiting(page: PageQuery): Promise<TaskPage> {
    return this.#system.reads.listWaiting(page, this.#scope);
  }

  /** Lists the tasks with a decision of the caller, newest task first, of any owner. */
  listDecided(page: PageQuery): Promise<TaskPage> {
    return this.#system.reads.listDecided(this.#caller, page);
  }

  /** Lists only the caller's sessions, most recently changed first. */
  listSessions(page: { limit: number; cursor?: string }): Promise<SessionPage> {
    return this.#system.sessions.list(this.#caller, page);
  }

  /** Returns a session, only if the caller owns it. */
  findSession(id: string): Promise<Session | undefined> {
    return this.#system.sessions.find(id, this.#caller);
  }

  /** Lists tasks, most recently changed state first. */
  listChanged(query: ChangedQuery): Promise<TaskPage> {
    return this.#system.reads.listChanged(query, this.#scope);
  }

  /** Counts the tasks that match a listing across all pages, up to an internal limit. */
  total(filter: TaskFilter): Promise<number> {
    return this.#system.reads.total(filter, this.#scope);
  }

  /**
   * Follows a task that this request started or read before; a subscriber that `open` subscribed stays subscribed.
   * Returns a function that stops following. Throws SystemError.
   */
  watch(id: string, subscriber: Subscriber): () => void {
    this.#refuseUnknown(id);
    return this.#system.watchers.subscribe(id, subscriber);
  }

  /** Returns the model's current turn in a task that this request started or read. Throws SystemError. */
  spoken(id: string): SpokenTurn | undefined {
    this.#refuseUnknown(id);
    return this.#system.spoken.of(id);
  }

  /**
   * Resolves with a task that this request started or read, once the task is final. `onTask` receives the committed
   * states until then. Rejects with the signal's reason, or with SystemError.
   */
  async settled(id: string, signal: AbortSignal, onTask?: (task: Task) => void): Promise<Task> {
    this.#refuseUnknown(id);
    return this.#system.watchers.settled(id, signal, (task) => {
      onTask?.(task);
      return isFinal(task.state);
    });
  }

  /** Resolves with a task once it has ended or waits for a person. Rejects like `settled`. */
  async standing(id: string, signal: AbortSignal): Promise<Task> {
    this.#refuseUnknown(id);
    return this.#system.watchers.settled(id, signal, isStanding);
  }

  /** Submits a decision to a task and returns the answer. Rejects with SystemError. */
  async decide(id: string, attempt: DecisionAttempt): Promise<DecisionAnswer> {
    await this.#system.people.refresh(this.#system.now());
    this.who = this.#standing();
    this.#scope = scopeOf(this.#taskAccess, this.#caller, this.who);
    const scope = this.#scope;
    if (scope.kind === 'all') return this.#system.decide(id, attempt);
    const task = await this.#system.reads.whose(id);
    const isOpen = task !== undefined && mayDecide(scope, task);
    // An unknown task gets the answer of another owner's task, so that the answer discloses none.
    if (!isOpen && scope.kind === 'own' && this.who.unchecked !== undefined) {
      throw uncheckedMember();
    }
    if (task !== undefined && !isOpen) return { kind: 'notPending' };
    return this.#system.decide(id, attempt);
  }

  /** Cancels a task and returns it; a final task is returned unchanged. Rejects with SystemError. */
  async cancel(id: string, reason: string): Promise<Task | undefined> {
    return (await this.#isForeign(id)) ? undefined : this.#system.cancel(id, reason);
  }

  /** Notifies a task that the client of its stream has disconnected. */
  async callerLeft(id: string): Promise<void> {
    if (!(await this.#isForeign(id))) await this.#system.callerLeft(id);
  }

  #standing(): Standing {
    const email = this.#caller?.email ?? null;
    const { people } = this.#system;
    return people.standingOf({ email, caller: this.#caller }, this.#system.now());
  }

  #visible(task: Task | undefined): Task | undefined {
    if (task === undefined || !isWithin(this.#scope, task)) return undefined;
    this.#known.add(task.id);
    return task;
  }

  /** Returns true if another owner has a task with this ID. */
  async #isForeign(id: string): Promise<boolean> {
    if (this.#scope.kind === 'all') return false;
    const task = await this.#system.reads.whose(id);
    return task !== undefined && !isWithin(this.#scope, task);
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
