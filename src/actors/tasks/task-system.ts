import { setImmediate as turn } from 'node:timers/promises';
import type { Refusal } from '../../machines/domain/finding.ts';
import { type Caller, isFinal, type Task } from '../../machines/domain/task.ts';
import { causesOf } from '../../machines/error-code.ts';
import {
  attemptedBy,
  type DecisionAttempt,
  isUnchecked,
} from '../../machines/governance/approvers.ts';
import { answerWithoutPending, type DecisionAnswer } from '../../machines/governance/decision.ts';
import type { PersonKey } from '../../machines/governance/same-person.ts';
import { tightened } from '../../machines/governance/tightened.ts';
import type { TaskLimits } from '../../machines/task/limits.ts';
import type { MessageAnswer } from '../../machines/task/task-events.ts';
import type { TaskRun } from '../../machines/task/task-input.ts';
import { ruledTask } from '../../machines/task/task-input.ts';
import { screenPrompt } from '../governance/governance.ts';
import { PeopleDirectory } from '../people/people.ts';
import { ConflictError, type SentMessage, type StoredTask } from '../records/records.ts';
import { SystemError, shuttingDown, uncheckedMember, unrecorded } from '../system-error.ts';
import { askTask } from './ask-task.ts';
import { shownMessage } from './effects/shown-message.ts';
import { EgressRecorder } from './egress-recorder.ts';
import { Holds } from './holds.ts';
import { Intake } from './intake.ts';
import { JoinedCalls } from './joined-calls.ts';
import type { LiveTask } from './live-task.ts';
import { LiveTasks, type LiveTasksOptions } from './live-tasks.ts';
import { orElsewhere } from './or-elsewhere.ts';
import { proposedEdit } from './proposed-edit.ts';
import { askPeople, type QuestionPorts } from './questions.ts';
import { recover } from './recovery.ts';
import { type RememberedCall, Remembering } from './remembering.ts';
import { Retention } from './retention.ts';
import { runInputOf } from './run-input.ts';
import { type Recalled, SentMessages } from './sent-messages.ts';
import { Sessions } from './sessions.ts';
import { type SharedDutiesPorts, sharedDuties } from './shared-duties.ts';
import type { HandedRequest, SharedDuties, SharedWork } from './shared-work.ts';
import { SpokenTurns } from './spoken-turn.ts';
import { TaskFeed } from './task-feed.ts';
import { TaskMetrics } from './task-metrics.ts';
import { TaskReads } from './task-reads.ts';
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

/** Maximum attempts to send an event to a task that is unloaded meanwhile. */
const maximumTries = 4;

/** Maximum attempts to count a repeated call: many may arrive at several daemons at once. */
const maximumCounts = 50;

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
  /** Changes of all tasks. */
  readonly feed: TaskFeed;
  readonly #options: TaskSystemOptions;
  readonly #tasks: LiveTasks;
  readonly #sent: SentMessages;
  readonly #joined: JoinedCalls;
  /** Decisions that are not yet on disk. */
  readonly #deciding = new Set<Promise<unknown>>();
  #isDrained = false;

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
    this.egress = new EgressRecorder({ ...options, tasks: this.#tasks });
    this.retention = new Retention(options);
  }

  /** Starts work after interrupted tasks are abandoned or resumed. Rejects with SystemError. */
  async start(): Promise<void> {
    const { shared } = this.#options;
    await recover({ ...this.#options, tasks: this.#tasks });
    if (shared === null) return this.retention.start();
    const tellParked: SharedDutiesPorts['tellParked'] = (id, send) => this.#tellParked(id, send);
    const { reads, watchers, feed, retention } = this;
    const answer: SharedDuties['answer'] = (id, request) => this.#answer(id, request);
    const parts = { tasks: this.#tasks, reads, watchers, feed, retention, tellParked, answer };
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
  async joinCall(id: string): Promise<void> {
    const count = (task: LiveTask): void => task.actor.send({ type: 'call.repeated' });
    await this.#tell(id, count, () => this.#tasks.activateParked(id), maximumCounts);
  }

  /** Records that the caller's client has answered the address of the page for a waiting call. Throws SystemError. */
  async showedLink(id: string): Promise<void> {
    await this.#tellParked(id, (task) => task.showedLink());
  }

  /** Records that the caller has received the outcome of a call. Rejects with the store's error. */
  receivedCall(task: Task, call: AskedCall): Promise<void> {
    return this.#joined.received(task, call);
  }

  /**
   * Adds a message to a waiting task. Resolves with the task's answer once it is on disk, and with the task's id; a
   * repeated message is not added again. Throws SystemError.
   */
  async say(id: string, said: SaidMessage): Promise<{ taskId: string; answer: MessageAnswer }> {
    return this.#orElsewhere(id, { kind: 'say', said }, () => this.#sayHere(id, said));
  }

  async #sayHere(
    id: string,
    said: SaidMessage,
  ): Promise<{ taskId: string; answer: MessageAnswer }> {
    this.intake.checkMessage();
    if (said.isKnownById !== true) return this.#say(id, said, null);
    return this.#sent.recalled(said, async (sent) => {
      const { taskId } = sent;
      if (taskId === undefined) return this.#say(id, said, sent);
      await this.#sent.saved(sent.key).catch((error: unknown) => {
        throw unrecorded(this.#options.store, error);
      });
      return { taskId, answer: { kind: 'kept' } };
    });
  }

  /** Submits a decision to a task and returns the task's answer once it is on disk. Throws SystemError. */
  async decide(id: string, attempted: DecisionAttempt): Promise<DecisionAnswer> {
    return this.#orElsewhere(id, { kind: 'decide', attempted }, () =>
      this.#decideHere(id, attempted),
    );
  }

  async #decideHere(id: string, attempted: DecisionAttempt): Promise<DecisionAnswer> {
    const refreshed = this.people.refresh(this.now());
    if (refreshed !== null) await refreshed;
    // A decision now would start work that is stopped at once, with an unknown outcome.
    if (this.#isDrained) throw shuttingDown();
    let remembered: RememberedCall | null = null;
    const deciding = this.#tellParked(id, ({ actor }): DecisionAnswer | null => {
      const { deferral, run } = actor.getSnapshot().context;
      const { policies, clock } = this.#options;
      const { requester, ran } = run;
      const facts = { requester, task: { id, ...ruledTask(run) }, ran, now: clock.now() };
      const standing = this.people.standingOf(attemptedBy(attempted), clock.now());
      const attempt = { ...attempted, standing };
      const { policy } = policies.current;
      const applied = deferral && policy.deferRuleOf(deferral, facts);
      const today = applied?.rule ?? null;
      if (deferral && isUnchecked(tightened(deferral, today, []), attempt)) throw uncheckedMember();
      const edit = proposedEdit(deferral, attempt, applied, { ...this.#options, policy });
      const session = run.contextId;
      if (deferral !== null) remembered = { deferral, attempt, applied, requester, session };
      const fault = remembered === null ? null : this.remembering.faultOf(remembered);
      if (fault !== null) return { kind: 'notRememberable', text: fault } as const;
      return askTask(actor, { type: 'deferral.decide', attempt, today, edit }, 'decision.answered');
    });
    this.#deciding.add(deciding);
    try {
      const answer = await deciding;
      if (remembered !== null) await this.#remember(answer, remembered);
      if (answer !== null) return answer;
      // The live task may have been loaded from an older read.
      const stored = await this.#options.store.rows.find(id);
      return answerWithoutPending(stored?.settled ?? null);
    } finally {
      this.#deciding.delete(deciding);
    }
  }

  /** An approval may release later calls; a rejection suspends such releases. */
  async #remember(answer: DecisionAnswer | null, call: RememberedCall): Promise<void> {
    if (answer?.kind !== 'resolved') return;
    try {
      if (call.attempt.verb === 'approve') await this.remembering.give(call);
      else await this.remembering.rejected(call.deferral, call.requester);
    } catch (error) {
      this.#options.log.error({ error }, 'grants: a decision could not be remembered');
    }
  }

  /** Returns the current time in epoch milliseconds. */
  now(): number {
    return this.#options.clock.now();
  }

  /** Cancels a task and returns it; a final task is returned unchanged. Throws SystemError. */
  async cancel(id: string, reason: string): Promise<Task | undefined> {
    await this.#orElsewhere(id, { kind: 'cancel', reason }, () => this.#cancelHere(id, reason));
    return this.reads.find(id);
  }

  async #cancelHere(id: string, reason: string): Promise<null> {
    const at = this.#options.clock.now();
    await this.#tell(
      id,
      (task) => task.actor.send({ type: 'task.cancel', reason, at }),
      () => this.#tasks.activateToEnd(id),
    );
    return null;
  }

  /** Answers a request that reached a daemon of an older release. Rejects with SystemError. */
  #answer(id: string, request: HandedRequest): Promise<unknown> {
    if (request.kind === 'decide') return this.#decideHere(id, request.attempted);
    if (request.kind === 'say') return this.#sayHere(id, request.said);
    return this.#cancelHere(id, request.reason);
  }

  /** Runs a request here, or passes it on if a later release has saved the task, as during an upgrade. */
  #orElsewhere<Answer>(id: string, request: HandedRequest, run: () => Promise<Answer>) {
    return orElsewhere({ ...this.#options, id, request }, run);
  }

  /** Notifies a task that its streaming caller has disconnected. */
  async callerLeft(id: string): Promise<void> {
    const at = this.#options.clock.now();
    await this.#tellParked(id, (task) => task.actor.send({ type: 'caller.left', at }));
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
      await Promise.race([isOver, Promise.allSettled(this.#deciding)]);
      await Promise.allSettled(this.#tasks.atWork().map((id) => this.watchers.settled(id, signal)));
      await turn();
      // A decision may have started another task meanwhile.
    } while (!signal.aborted && this.#deciding.size + this.#tasks.atWork().length > 0);
    this.#isDrained = true;
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
    const task = this.#tasks.open(input, before, sent);
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

  async #say(
    id: string,
    said: SaidMessage,
    sent: SentMessage | null,
  ): Promise<{ taskId: string; answer: MessageAnswer }> {
    const { message, requester } = said;
    const refusal = await this.#refusalOf(id, said);
    const sender = requester === null ? null : personOf(requester);
    const { policies, clock } = this.#options;
    const shown = shownMessage(message, sender, { ...policies.current, at: clock.now() });
    const event = { type: 'message.received', message, refusal, sender, shown } as const;
    const answer = await this.#tellParked(id, (task) =>
      askTask(task.actor, event, 'message.answered', ({ kind }) => {
        if (sent === null || kind !== 'kept') return;
        task.keep(sent);
        this.#sent.begin(sent.key, task);
      }),
    );
    return { taskId: id, answer: answer ?? { kind: 'notWaiting' } };
  }

  async #refusalOf(id: string, { message, requester }: SaidMessage): Promise<Refusal | null> {
    const asker = (await this.reads.find(id))?.requester ?? null;
    const { policies, log } = this.#options;
    const { policy } = policies.current;
    const refusal = policy.refusalOfSpeaker(requester, asker);
    return refusal ?? screenPrompt(message, { policy, log }).refusal;
  }

  /** Like `#tell`, for events to a waiting task: a task running on another daemon is not disturbed. */
  #tellParked<Answer>(id: string, send: (task: LiveTask) => Answer): Promise<Answer | null> {
    return this.#tell(id, send, () => this.#tasks.activateParked(id));
  }

  /** Sends an event to a live task and waits until its effects are on disk. */
  async #tell<Answer>(
    id: string,
    send: (task: LiveTask) => Answer,
    activate: () => Promise<LiveTask | undefined> = () => this.#tasks.activate(id),
    most = maximumTries,
  ): Promise<Answer | null> {
    this.intake.checkStarted();
    for (let tries = 1; ; tries += 1) {
      const task = await activate();
      if (task === undefined) return null;
      const { status } = task.actor.getSnapshot();
      // The task was unloaded after it was found.
      if (status === 'stopped' && tries < most) continue;
      const answer = status === 'active' ? send(task) : null;
      try {
        await task.saved();
        return answer;
      } catch (error) {
        if (!isConflict(error) || tries === most) throw unrecorded(this.#options.store, error);
        // The task begun here was never saved, and its id may belong to another caller's task.
        if (!hasBegun(task)) throw stillRunning(id);
      }
    }
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

/** True for a change that lost a conflict, or followed one that did. */
function isConflict(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof ConflictError);
}

function hasBegun({ committed }: LiveTask): boolean {
  return committed !== null && !isFinal(committed.state);
}

function stillRunning(id: string): SystemError {
  return new SystemError(
    'task_running',
    `task ${id} is still running; wait for it to end, cancel it, or leave the id out`,
  );
}

function runsOnce(id: string): SystemError {
  return new SystemError(
    'task_running',
    `task ${id} is the hold of one call, which a new run would replace; leave the id out`,
  );
}

function stillWaiting(id: string, tool: string): SystemError {
  return new SystemError(
    'task_running',
    `task ${id} waits for approval of ${tool}; name it as the taskId of an A2A message to have that shown to the approvers, or cancel it to call it off`,
  );
}

function personOf({ provider, userId, email }: Caller): PersonKey {
  return { provider, userId, ...(email === undefined ? {} : { email }) };
}
