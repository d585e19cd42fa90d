import { setImmediate as turn } from 'node:timers/promises';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import type { DecisionAnswer } from '../../machines/governance/decision.ts';
import type { TaskLimits } from '../../machines/task/limits.ts';
import type { MessageAnswer } from '../../machines/task/task-events.ts';
import type { TaskRun } from '../../machines/task/task-input.ts';
import { PeopleDirectory } from '../people/people.ts';
import type { SentMessage, StoredTask } from '../records/records.ts';
import { shuttingDown, unrecorded } from '../system-error.ts';
import { EgressRecorder } from './egress-recorder.ts';
import { Holds } from './holds.ts';
import { Intake } from './intake.ts';
import { JoinedCalls } from './joined-calls.ts';
import { LimitBook } from './limit-book.ts';
import { LiveTasks, type LiveTasksOptions } from './live-tasks.ts';
import { isConflict } from './lost-conflict.ts';
import { askPeople, type QuestionPorts } from './questions.ts';
import { recover } from './recovery.ts';
import { Remembering } from './remembering.ts';
import { Retention } from './retention.ts';
import { runInputOf } from './run-input.ts';
import { type Recalled, SentMessages } from './sent-messages.ts';
import { Sessions } from './sessions.ts';
import { sharedDuties } from './shared-duties.ts';
import type { SharedWork } from './shared-work.ts';
import { SpokenTurns } from './spoken-turn.ts';
import { TaskFeed } from './task-feed.ts';
import { TaskInbox } from './task-inbox.ts';
import { TaskMetrics } from './task-metrics.ts';
import { TaskReads } from './task-reads.ts';
import { runsOnce, stillRunning, stillWaiting } from './task-refusals.ts';
import type { AskedCall, SaidMessage, TaskRequest } from './task-request.ts';
import { WaitingLimit } from './waiting-limit.ts';
import { allTasks, type Subscriber, Watchers } from './watchers.ts';
import { whenReachable } from './when-reachable.ts';

export interface TaskSystemOptions
  extends Omit<
    LiveTasksOptions,
    'watchers' | 'spoken' | 'onMeasured' | 'isShared' | 'waits' | 'sessions' | 'remembering' | 'ask'
  > {
  onRestart: 'abandon' | 'resume';
  /** Resource limits of a task's run. */
  limits: TaskLimits;
  /** Effect of a tool error: it ends the run, or is a result for the model. */
  onToolError: TaskRun['onToolError'];
  /** Retention time of final tasks, in milliseconds. */
  retention: number;
  /** Work sharing with other daemons; `null` for a single daemon. */
  shared: SharedWork | null;
  /** The people who may decide by their groups; no one is in a group when absent. */
  people?: PeopleDirectory;
}

/** Options of the start of a task. */
interface Opening {
  /** Registers the message, so that a repeat is recognised; `null` for a message whose repeats are new. */
  sent: SentMessage | null;
  subscriber?: Subscriber | undefined;
  /** Finds the task that another daemon started for the same message. */
  recall?: () => Promise<Recalled>;
}

/**
 * The only write access to tasks: start, send, decide, cancel; its members read and follow them. Returned states are
 * always on disk already. Every refusal is a SystemError.
 */
export class TaskSystem {
  readonly intake: Intake;
  readonly reads: TaskReads;
  readonly watchers: Watchers;
  /** Running model turns. */
  readonly spoken: SpokenTurns;
  readonly sessions: Sessions;
  readonly metrics: TaskMetrics;
  /** Records every outgoing hop. */
  readonly egress: EgressRecorder;
  readonly retention: Retention;
  /** Calls that other programs run. */
  readonly holds: Holds;
  /** Groups, rotations and delegations of the people who decide. */
  readonly people: PeopleDirectory;
  /** Approvals that release later calls. */
  readonly remembering: Remembering;
  /** Limits over calls, and the calls whose outcome nobody knows. */
  readonly limits: LimitBook;
  /** Changes of all tasks. */
  readonly feed: TaskFeed;
  readonly #options: TaskSystemOptions;
  readonly #tasks: LiveTasks;
  readonly #sent: SentMessages;
  readonly #joined: JoinedCalls;
  readonly #inbox: TaskInbox;

  constructor(options: TaskSystemOptions) {
    const { store } = options;
    const { rows } = store;
    const isShared = options.shared !== null;
    this.#options = options;
    const { clock } = options;
    this.watchers = new Watchers((id, signal) =>
      whenReachable(() => this.reads.latestRun(id), { clock, signal }),
    );
    this.spoken = new SpokenTurns((id, text) =>
      this.watchers.progressed(id, { phase: 'token', text }),
    );
    const waits = new WaitingLimit({
      ...options,
      rows,
      isLive: (id) => this.#tasks.find(id) !== undefined,
    });
    this.people = options.people ?? new PeopleDirectory();
    this.remembering = new Remembering({ ...options, people: this.people });
    this.limits = new LimitBook(options);
    this.feed = new TaskFeed(options.clock);
    this.watchers.subscribe(allTasks, {
      onOwnChange: (task, before) => {
        waits.changed(task, before);
        this.feed.changed(task, before);
      },
    });
    this.metrics = new TaskMetrics({
      rows,
      isShared,
      live: () => this.#tasks.size,
      now: () => clock.now(),
    });
    this.sessions = new Sessions(rows.sessions);
    const asking: QuestionPorts = {
      holds: () => this.holds,
      watchers: this.watchers,
      cancel: (id) => this.cancel(id, 'external_signal'),
      log: options.log,
    };
    this.#tasks = new LiveTasks({
      ...options,
      isShared,
      sessions: this.sessions,
      remembering: this.remembering,
      waits,
      watchers: this.watchers,
      spoken: this.spoken,
      onMeasured: (measured) => this.metrics.measured(measured),
      ask: (asked) => askPeople(asking, asked),
    });
    this.#sent = new SentMessages({
      rows: rows.messages,
      findLive: (id) => this.#tasks.find(id),
      find: (id) => this.reads.find(id),
      ...options,
    });
    const { policies } = options;
    this.#joined = new JoinedCalls({ policies, sent: this.#sent, rows: rows.messages, clock });
    this.intake = new Intake({ registry: this.#tasks.registry, store });
    this.holds = new Holds({
      ...options,
      intake: this.intake,
      accounts: this.#tasks.holds,
      sent: this.#sent,
      find: (id) => this.reads.find(id),
      open: (request, opening) => this.#open(request, opening),
    });
    const isInspected = options.inspect !== undefined;
    this.reads = new TaskReads({
      rows,
      tasks: this.#tasks,
      sent: this.#sent,
      isShared,
      isInspected,
    });
    const { intake, reads, people, remembering } = this;
    const members = { intake, reads, people, remembering };
    this.#inbox = new TaskInbox({ ...options, ...members, tasks: this.#tasks, sent: this.#sent });
    this.egress = new EgressRecorder({ ...options, tasks: this.#tasks });
    this.retention = new Retention(options);
  }

  /** Starts work after interrupted tasks are abandoned or resumed. Rejects with SystemError. */
  async start(): Promise<void> {
    const { shared } = this.#options;
    await recover({ ...this.#options, tasks: this.#tasks });
    if (shared === null) return this.retention.start();
    const { reads, watchers, feed, retention } = this;
    const parts = { tasks: this.#tasks, inbox: this.#inbox, reads, watchers, feed, retention };
    await shared.start(sharedDuties({ ...this.#options, ...parts }));
  }

  /**
   * Starts a task for a message and returns its id; for a repeated message returns the id of its existing task.
   * `subscriber` subscribes to a new task before it starts, and not to an existing one. Throws SystemError.
   */
  async open(request: TaskRequest, subscriber?: Subscriber): Promise<string> {
    this.intake.checkRun();
    const open = async (sent: SentMessage | null) =>
      (await this.#open(request, { sent, subscriber })).id;
    if (request.isKnownById !== true) return open(null);
    return this.#sent.recalled(request, async (sent) => sent.taskId ?? open(sent));
  }

  /**
   * Starts a task for one call, or finds the identical call of the same caller that is running, waiting, or has an
   * unreceived outcome. Returns the task, and whether it is new. Throws SystemError.
   */
  async openCall(
    asked: Omit<TaskRequest, 'calls'>,
    call: AskedCall,
  ): Promise<{ id: string; isNew: boolean }> {
    this.intake.checkRun();
    const request = { ...asked, calls: [call] };
    const key = this.#joined.keyOf(request.requester, call);
    if (key === null) return this.#open(request, { sent: null });
    return this.#joined.inTurn(key, async (sent) => {
      if (sent.taskId !== undefined) return { id: sent.taskId, isNew: false };
      return this.#open(request, { sent, recall: () => this.#joined.recall(key) });
    });
  }

  /** Counts another request for the waiting call of a task; approvers see the count. Throws SystemError. */
  joinCall(id: string): Promise<void> {
    return this.#inbox.join(id);
  }

  /** Records that the caller's client has answered the address of the page for a waiting call. Throws SystemError. */
  showedLink(id: string): Promise<void> {
    return this.#inbox.showedLink(id);
  }

  /** Records that the caller has received the outcome of a call. Rejects with the store's error. */
  receivedCall(task: Task, call: AskedCall): Promise<void> {
    return this.#joined.received(task, call);
  }

  /**
   * Adds a message to a waiting task. Resolves with the task's answer once it is on disk, and with the task's id; a
   * repeated message is not added again. Throws SystemError.
   */
  say(id: string, said: SaidMessage): Promise<{ taskId: string; answer: MessageAnswer }> {
    return this.#inbox.say(id, said);
  }

  /** Submits a decision to a task and returns the task's answer once it is on disk. Throws SystemError. */
  decide(id: string, attempted: DecisionAttempt): Promise<DecisionAnswer> {
    return this.#inbox.decide(id, attempted);
  }

  /** Cancels a task and returns it; a final task is returned unchanged. Throws SystemError. */
  cancel(id: string, reason: string): Promise<Task | undefined> {
    return this.#inbox.cancel(id, reason);
  }

  /** Notifies a task that its streaming caller has disconnected. */
  callerLeft(id: string): Promise<void> {
    return this.#inbox.callerLeft(id);
  }

  /** Returns the current time in epoch milliseconds. */
  now(): number {
    return this.#options.clock.now();
  }

  /**
   * Stops accepting work, disconnects callers that wait for a decision, gives running tasks `grace` milliseconds to
   * end, and disconnects the rest.
   */
  async drain(grace: number): Promise<void> {
    this.#tasks.registry.drain();
    // A task without an actor here is unloaded or belongs to another daemon.
    const atWork = new Set(this.#tasks.atWork());
    this.watchers.lostAll(shuttingDown(), (id) => !atWork.has(id));
    const signal = AbortSignal.timeout(grace);
    const isOver = new Promise((over) => signal.addEventListener('abort', over));
    do {
      await Promise.race([isOver, Promise.allSettled(this.#inbox.deciding)]);
      await Promise.allSettled(this.#tasks.atWork().map((id) => this.watchers.settled(id, signal)));
      await turn();
      // A decision may have started another task meanwhile.
    } while (!signal.aborted && this.#inbox.deciding.size + this.#tasks.atWork().length > 0);
    this.#inbox.drain();
    this.watchers.lostAll(shuttingDown(), () => true);
    this.feed.end();
  }

  /** Stops every task and closes the store. */
  async stop(): Promise<void> {
    this.egress.stop();
    this.retention.stop();
    await this.#options.shared?.stop();
    const { store } = this.#options;
    const flushed = store.flush();
    // Stopped during the flush, so no task continues after the final commit.
    this.#tasks.stop();
    await flushed;
    await store.close();
  }

  async #open(
    request: TaskRequest,
    { sent, subscriber, recall = () => this.#sent.recalledAgain(request) }: Opening,
  ): Promise<{ id: string; isNew: boolean }> {
    const id = request.id ?? this.#options.ids.next();
    const before = request.id === undefined ? undefined : await this.#ended(request.id);
    const alias = await this.#aliasOf(request);
    const { sessions } = this;
    const input = await runInputOf(id, request, before, { ...this.#options, sessions });
    this.intake.checkRun();
    if (request.id !== undefined) this.#refuseLive(id);
    const unsubscribe = subscriber && this.watchers.subscribe(id, subscriber);
    const isAlone = request.contextId === undefined && before === undefined;
    const task = this.#tasks.open(input, before, { sent, isAlone });
    if (sent !== null) this.#sent.begin(sent.key, task);
    if (alias !== null) task.keep(alias);
    const mayBeElsewhere = sent !== null || request.id !== undefined;
    if (this.#options.shared === null || !mayBeElsewhere) return { id, isNew: true };
    try {
      await task.saved();
      return { id, isNew: true };
    } catch (error) {
      unsubscribe?.();
      if (!isConflict(error)) throw unrecorded(this.#options.store, error);
      // Another daemon has started a task in place of this one.
      const taskId = sent === null ? undefined : (await recall()).taskId;
      if (taskId === undefined) throw stillRunning(id);
      return { id: taskId, isNew: false };
    }
  }

  async #aliasOf({ alias }: TaskRequest): Promise<SentMessage | null> {
    if (alias === undefined || this.#options.shared === null) return null;
    return this.#sent.recallUnless(alias, () => true);
  }

  async #ended(id: string): Promise<StoredTask | undefined> {
    const stored = await this.#options.store.rows.read(id);
    const held = stored?.task.deferral ?? null;
    if (held !== null) throw stillWaiting(id, held.tool);
    if (stored !== undefined && !isFinal(stored.task.state)) throw stillRunning(id);
    if (stored?.task.hold !== undefined) throw runsOnce(id);
    return stored;
  }

  #refuseLive(id: string): void {
    if (this.#tasks.find(id) !== undefined) throw stillRunning(id);
  }
}
