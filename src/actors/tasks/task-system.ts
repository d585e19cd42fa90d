import { setImmediate as turn } from 'node:timers/promises';
import { heardHistory } from '../../machines/conversation/session.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import { answerWithoutPending, type DecisionAnswer } from '../../machines/governance/decision.ts';
import type { Refusal } from '../../machines/governance/finding.ts';
import type { PersonKey } from '../../machines/governance/same-person.ts';
import type { StateHistory } from '../../machines/task/entered-state.ts';
import type { TaskLimits } from '../../machines/task/limits.ts';
import {
  type Caller,
  isFinal,
  type Message,
  type Surface,
  type Task,
  type TaskState,
} from '../../machines/task/task.ts';
import { type OwnedTask, ownerOfNextRun } from '../../machines/task/task-access.ts';
import type { MessageAnswer } from '../../machines/task/task-events.ts';
import { screenPrompt } from '../governance/governance.ts';
import {
  type ChangedQuery,
  ConflictError,
  type StoredTask,
  type TaskFilter,
  type TaskPage,
  type TaskQuery,
  type TaskStore,
} from '../records/records.ts';
import { askTask } from './ask-task.ts';
import { EgressRecorder } from './egress-recorder.ts';
import type { LiveTask, Measured } from './live-task.ts';
import { LiveTasks, type LiveTasksOptions } from './live-tasks.ts';
import { recover } from './recovery.ts';
import { Retention } from './retention.ts';
import { SentMessages } from './sent-messages.ts';
import { type Session, type SessionBrief, Sessions } from './sessions.ts';
import { SystemError, shuttingDown, unrecorded } from './system-error.ts';
import { TaskLists } from './task-lists.ts';
import { TaskMetrics } from './task-metrics.ts';
import { type Progress, type Watcher, Watchers } from './watchers.ts';

export type { SystemErrorCode } from './system-error.ts';
export {
  type ChangedQuery,
  type Measured,
  type Progress,
  type Session,
  type SessionBrief,
  SystemError,
  type TaskFilter,
  type TaskPage,
  type TaskQuery,
  type Watcher,
};

/** What a caller sends to have a task worked on. */
export interface TaskRequest {
  /** Names a new task, or a final one that is to run again; a new id is made when absent. */
  id?: string;
  contextId?: string;
  message: Message;
  /**
   * True when the id of the message is its sender's own, so that a second one is the first again: it leads to
   * the same task, unless that was refused for want of assurance.
   */
  isKnownById?: boolean;
  requester: Caller | null;
  correlationId: string;
  /** What every audit event of the run carries besides, such as `workflow_id`. */
  tags?: Record<string, string>;
  /** Where the request stands in a trace, as a W3C `traceparent`; in none when absent. */
  trace?: string | null;
  /** `legacy` when left out. */
  surface?: Surface;
}

/** A message to a task that is there. */
export type SaidMessage = Pick<TaskRequest, 'message' | 'requester' | 'isKnownById'>;

/** What the task system is made of. */
export interface TaskSystemOptions
  extends Omit<LiveTasksOptions, 'watchers' | 'onMeasured' | 'onChanged'> {
  onRestart: 'abandon' | 'resume';
  /** How much a run of a task may use up. */
  limits: TaskLimits;
  /** How long a final task is kept, in milliseconds. */
  retention: number;
}

/** How often a lost process lets its tasks be seen again by another try, at most. */
const maximumTries = 4;

/**
 * The one way to tasks: start, find, follow, decide, cancel. What it tells is always on disk
 * already. Every refusal is a SystemError.
 */
export class TaskSystem {
  readonly lists: TaskLists;
  readonly sessions: Sessions;
  readonly metrics: TaskMetrics;
  /** Hears of every hop that goes out. */
  readonly egress: EgressRecorder;
  readonly retention: Retention;
  readonly #options: TaskSystemOptions;
  readonly #store: TaskStore;
  readonly #watchers: Watchers;
  readonly #tasks: LiveTasks;
  readonly #following: ((task: Task) => void)[] = [];
  /** Decisions that are not on disk yet. */
  readonly #deciding = new Set<Promise<unknown>>();
  readonly #sent: SentMessages;
  #lookingAround: NodeJS.Timeout | null = null;
  #isDrained = false;

  constructor(options: TaskSystemOptions) {
    const { store } = options;
    this.#options = options;
    this.#store = store;
    this.#watchers = new Watchers();
    this.#tasks = new LiveTasks({
      ...options,
      watchers: this.#watchers,
      onMeasured: (measured) => this.metrics.measured(measured),
      onChanged: (task) => {
        for (const hear of this.#following) hear(task);
      },
    });
    this.#sent = new SentMessages({
      rows: store.rows.messages,
      findLive: (id) => this.#tasks.find(id),
      find: (id) => this.find(id),
    });
    this.lists = new TaskLists(store.rows);
    this.sessions = new Sessions(store.rows.sessions);
    this.metrics = new TaskMetrics({ rows: store.rows, live: () => this.#tasks.size });
    this.egress = new EgressRecorder({ ...options, tasks: this.#tasks });
    this.retention = new Retention(options);
  }

  /** Begins to work, once what a restart interrupted is given up or gone on with. Rejects with SystemError. */
  async start(): Promise<void> {
    await recover({ ...this.#options, tasks: this.#tasks });
    this.retention.start();
    this.#lookingAround = setInterval(() => this.#lookAround(), 1_000).unref();
  }

  /** True when new work is taken in and can be recorded. */
  isReady(): boolean {
    return this.#tasks.isAccepting && this.#store.isWritable();
  }

  /** Has somebody hear of every change of a task that is on disk, from now on; must not throw. */
  onChanged(hear: (task: Task) => void): void {
    this.#following.push(hear);
  }

  /**
   * Starts work on a message and returns the id of its task; one that is known by its id starts nothing and
   * returns the task it led to before. Throws SystemError.
   */
  open(request: TaskRequest): string {
    this.#refuseWhileStarting();
    if (!this.#tasks.isAccepting) throw shuttingDown();
    if (!this.#store.isWritable()) throw unrecorded();
    const { clock, ids } = this.#options;
    const { requester } = request;
    const sent =
      request.isKnownById === true ? this.#sent.recall(requester, request.message) : null;
    if (sent?.taskId !== undefined) return sent.taskId;
    const id = request.id ?? ids.next();
    const before = request.id === undefined ? undefined : this.#ended(request.id);
    const task = this.#tasks.open(
      {
        id,
        contextId: request.contextId ?? before?.task.contextId ?? ids.next(),
        correlationId: request.correlationId,
        tags: request.tags ?? {},
        trace: request.trace ?? null,
        requester,
        ...(before === undefined ? {} : { owner: ownerOfNextRun(before.task, requester) }),
        surface: request.surface ?? 'legacy',
        session: this.#session(request, before),
        history: before === undefined ? [] : heardHistory(before.task),
        leftOut: before?.task.leftOut ?? 0,
        request: request.message,
        limits: this.#options.limits,
        settled: before?.task.settled ?? null,
        createdAt: before?.task.createdAt ?? clock.now(),
      },
      before,
      sent,
    );
    if (sent !== null) this.#sent.begin(sent.key, task);
    return id;
  }

  /** Returns the id of the task that an earlier message with the same id of the same sender led to. */
  findBySent({ message, requester }: SaidMessage): string | undefined {
    return this.#sent.recall(requester, message).taskId;
  }

  /** Returns a task as it stands on disk. */
  find(id: string): Task | undefined {
    return this.#tasks.find(id)?.committed ?? this.#store.rows.find(id);
  }

  /** Returns what tells whose a task is, also before it is first on disk. */
  whose(id: string): OwnedTask | undefined {
    const live = this.#tasks.find(id)?.actor.getSnapshot().context;
    if (live === undefined) return this.#store.rows.find(id);
    const { run, deferral, settled } = live;
    return { ...run, deferral, settled };
  }

  /** Returns the states of the chart that a task has entered, as they stand on disk. */
  statesOf(id: string): StateHistory {
    return this.#store.rows.states.of(id);
  }

  /** Returns the task that waits on a deferral. */
  findByDeferral(deferralId: string): Task | undefined {
    return this.#store.rows.findByDeferral(deferralId);
  }

  /** Follows a task; the returned function stops it. A task at rest stays at rest. */
  watch(id: string, watcher: Watcher): () => void {
    return this.#watchers.add(id, watcher);
  }

  /**
   * Resolves with a task once it is final, or in a state that `isEnough`. Rejects with the signal's reason,
   * or with SystemError when the task can no longer be followed from here.
   */
  settled(
    id: string,
    signal: AbortSignal,
    isEnough: (state: TaskState) => boolean = isFinal,
  ): Promise<Task> {
    const present = this.#latestRun(id);
    if (present !== undefined && isEnough(present.state)) return Promise.resolve(present);
    return this.#watchers.until(id, signal, isEnough);
  }

  /**
   * Puts a message to a task that waits, and returns the task's answer once it is on disk, with the task that
   * it led to: one that is known by its id is put to none again. Throws SystemError.
   */
  async say(id: string, said: SaidMessage): Promise<{ taskId: string; answer: MessageAnswer }> {
    if (!this.#tasks.isAccepting && !this.#tasks.isStarting) throw shuttingDown();
    if (!this.#store.isWritable()) throw unrecorded();
    const { message, requester } = said;
    const sent = said.isKnownById === true ? this.#sent.recall(requester, message) : null;
    if (sent?.taskId !== undefined) {
      await this.#sent.saved(sent.key).catch((error: unknown) => Promise.reject(unrecorded(error)));
      return { taskId: sent.taskId, answer: { kind: 'kept' } };
    }
    const refusal = this.#refusalOf(id, said);
    const sender = requester === null ? null : personOf(requester);
    const event = { type: 'message.received', message, refusal, sender } as const;
    const answer = await this.#tellParked(id, (task) =>
      askTask(task.actor, event, 'message.answered', ({ kind }) => {
        if (sent === null || kind !== 'kept') return;
        task.keep(sent);
        this.#sent.begin(sent.key, task);
      }),
    );
    return { taskId: id, answer: answer ?? { kind: 'notWaiting' } };
  }

  #refusalOf(id: string, { message, requester }: SaidMessage): Refusal | null {
    const asker = this.find(id)?.requester ?? null;
    const refusal = this.#options.policy.refusalOfSpeaker(requester, asker);
    return refusal ?? screenPrompt(message, this.#options).refusal;
  }

  /** Puts a decision to a task and returns the task's answer, once it is on disk. Throws SystemError. */
  async decide(id: string, attempt: DecisionAttempt): Promise<DecisionAnswer> {
    // It would put a task to work that is stopped at once, and nobody could tell how far it came.
    if (this.#isDrained) throw shuttingDown();
    const event = { type: 'deferral.decide', attempt } as const;
    const deciding = this.#tellParked(id, ({ actor }) =>
      askTask(actor, event, 'decision.answered'),
    );
    this.#deciding.add(deciding);
    try {
      return (await deciding) ?? answerWithoutPending(this.find(id)?.settled ?? null);
    } finally {
      this.#deciding.delete(deciding);
    }
  }

  /** Calls a task off and returns it; a final one is returned as it is. Throws SystemError. */
  async cancel(id: string, reason: string): Promise<Task | undefined> {
    const at = this.#options.clock.now();
    await this.#tell(id, (task) => task.actor.send({ type: 'task.cancel', reason, at }));
    return this.find(id);
  }

  /** Tells a task that the caller who streamed it has gone. */
  async callerLeft(id: string): Promise<void> {
    const at = this.#options.clock.now();
    await this.#tellParked(id, (task) => task.actor.send({ type: 'caller.left', at }));
  }

  /**
   * Stops taking in work, lets go of everybody who waits for a decision, gives tasks at work
   * `grace` milliseconds to end, and lets go of the rest.
   */
  async drain(grace: number): Promise<void> {
    this.#tasks.drain();
    const isParked = (id: string): boolean => this.find(id)?.state === 'deferred';
    this.#watchers.lostAll(shuttingDown(), isParked);
    const signal = AbortSignal.timeout(grace);
    const isOver = new Promise((over) => signal.addEventListener('abort', over));
    do {
      await Promise.race([isOver, Promise.allSettled(this.#deciding)]);
      await Promise.allSettled(this.#tasks.atWork().map((id) => this.settled(id, signal)));
      await turn();
      // A decision may have put a task to work meanwhile.
    } while (!signal.aborted && this.#deciding.size + this.#tasks.atWork().length > 0);
    this.#isDrained = true;
    this.#watchers.lostAll(shuttingDown(), () => true);
  }

  /** Stops every task and closes the store. */
  stop(): void {
    this.egress.stop();
    this.retention.stop();
    if (this.#lookingAround !== null) clearInterval(this.#lookingAround);
    this.#store.flush();
    this.#tasks.stop();
    this.#store.close();
  }

  /** Like `#tell`, for what concerns a task that waits: one at work elsewhere is not disturbed. */
  #tellParked<Answer>(id: string, send: (task: LiveTask) => Answer): Promise<Answer | null> {
    return this.#tell(id, send, () => this.#tasks.activateParked(id));
  }

  /** Sends something to a live task and waits for its consequences to be on disk. */
  async #tell<Answer>(
    id: string,
    send: (task: LiveTask) => Answer,
    activate: () => LiveTask | undefined = () => this.#tasks.activate(id),
  ): Promise<Answer | null> {
    this.#refuseWhileStarting();
    for (let tries = 1; ; tries += 1) {
      const task = activate();
      if (task === undefined) return null;
      const hasEnded = task.actor.getSnapshot().status !== 'active';
      const answer = hasEnded ? null : send(task);
      try {
        await task.saved();
        return answer;
      } catch (error) {
        if (!(error instanceof ConflictError) || tries === maximumTries) throw unrecorded(error);
      }
    }
  }

  /** Returns the latest run of a task as it stands on disk; `undefined` as long as nothing of it does. */
  #latestRun(id: string): Task | undefined {
    const live = this.#tasks.find(id);
    if (live === undefined) return this.find(id);
    // What a live task shows as final is the run before. Nothing has to be read, as every send asks this.
    const { committed } = live;
    return committed === null || isFinal(committed.state) ? undefined : committed;
  }

  #refuseWhileStarting(): void {
    if (!this.#tasks.isStarting) return;
    throw new SystemError('starting', 'service is starting; try again in a moment');
  }

  #ended(id: string): StoredTask | undefined {
    const stored = this.#store.rows.read(id);
    const isRunning = stored !== undefined && !isFinal(stored.task.state);
    if (isRunning || this.#tasks.find(id) !== undefined) {
      throw new SystemError(
        'task_running',
        `task ${id} is still running; wait for it to end, cancel it, or leave the id out`,
      );
    }
    return stored;
  }

  /** A task that runs again goes on with its own history. */
  #session({ contextId, requester }: TaskRequest, before: StoredTask | undefined): Message[] {
    if (contextId === undefined || before !== undefined) return [];
    return this.sessions.heard(contextId, requester);
  }

  #lookAround(): void {
    this.#tasks.restParked();
    this.#tasks.resumeUnrecorded();
    this.#tasks.endOverruns();
  }
}

function personOf({ provider, userId, email }: Caller): PersonKey {
  return { provider, userId, ...(email === undefined ? {} : { email }) };
}
