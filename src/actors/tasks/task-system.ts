import { setImmediate as turn } from 'node:timers/promises';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import { answerWithoutPending, type DecisionAnswer } from '../../machines/governance/decision.ts';
import type { Refusal } from '../../machines/governance/finding.ts';
import type { PersonKey } from '../../machines/governance/same-person.ts';
import type { TaskLimits } from '../../machines/task/limits.ts';
import { type Caller, isFinal, type Task } from '../../machines/task/task.ts';
import type { MessageAnswer } from '../../machines/task/task-events.ts';
import type { TaskRun } from '../../machines/task/task-input.ts';
import { screenPrompt } from '../governance/governance.ts';
import { ConflictError, type StoredTask } from '../records/records.ts';
import { SystemError, shuttingDown, unrecorded } from '../system-error.ts';
import { askTask } from './ask-task.ts';
import { EgressRecorder } from './egress-recorder.ts';
import { Intake } from './intake.ts';
import type { LiveTask } from './live-task.ts';
import { LiveTasks, type LiveTasksOptions } from './live-tasks.ts';
import { recover } from './recovery.ts';
import { Retention } from './retention.ts';
import { runInputOf } from './run-input.ts';
import { SentMessages } from './sent-messages.ts';
import { Sessions } from './sessions.ts';
import { TaskFeed } from './task-feed.ts';
import { TaskMetrics } from './task-metrics.ts';
import { TaskReads } from './task-reads.ts';
import type { SaidMessage, TaskRequest } from './task-request.ts';
import { Watchers } from './watchers.ts';

/** What the task system is made of. */
export interface TaskSystemOptions extends Omit<LiveTasksOptions, 'watchers' | 'onMeasured'> {
  onRestart: 'abandon' | 'resume';
  /** How much a run of a task may use up. */
  limits: TaskLimits;
  /** What an error of a tool leads to: the end of the run, or a result that the model is told of. */
  onToolError: TaskRun['onToolError'];
  /** How long a final task is kept, in milliseconds. */
  retention: number;
}

/** How often a lost process lets its tasks be seen again by another try, at most. */
const maximumTries = 4;

/**
 * The one way to tasks: start, say, decide, cancel; what stands beside it reads and follows them. What it tells is
 * always on disk already. Every refusal is a SystemError.
 */
export class TaskSystem {
  readonly intake: Intake;
  readonly reads: TaskReads;
  readonly watchers: Watchers;
  readonly sessions: Sessions;
  readonly metrics: TaskMetrics;
  /** Hears of every hop that goes out. */
  readonly egress: EgressRecorder;
  readonly retention: Retention;
  /** The changes of all tasks. */
  readonly feed: TaskFeed;
  readonly #options: TaskSystemOptions;
  readonly #tasks: LiveTasks;
  readonly #sent: SentMessages;
  /** Decisions that are not on disk yet. */
  readonly #deciding = new Set<Promise<unknown>>();
  #isDrained = false;

  constructor(options: TaskSystemOptions) {
    const { store } = options;
    const { rows } = store;
    this.#options = options;
    this.watchers = new Watchers((id) => this.reads.latestRun(id));
    this.feed = new TaskFeed(options.clock);
    this.watchers.onChanged((task, before) => this.feed.changed(task, before));
    this.metrics = new TaskMetrics({ rows, live: () => this.#tasks.size });
    this.#tasks = new LiveTasks({
      ...options,
      watchers: this.watchers,
      onMeasured: (measured) => this.metrics.measured(measured),
    });
    this.#sent = new SentMessages({
      rows: rows.messages,
      findLive: (id) => this.#tasks.find(id),
      find: (id) => this.reads.find(id),
    });
    this.intake = new Intake({ registry: this.#tasks.registry, store });
    const isInspected = options.inspect !== undefined;
    this.reads = new TaskReads({ rows, tasks: this.#tasks, sent: this.#sent, isInspected });
    this.sessions = new Sessions(rows.sessions);
    this.egress = new EgressRecorder({ ...options, tasks: this.#tasks });
    this.retention = new Retention(options);
  }

  /** Begins to work, once what a restart interrupted is given up or gone on with. Rejects with SystemError. */
  async start(): Promise<void> {
    await recover({ ...this.#options, tasks: this.#tasks });
    this.retention.start();
  }

  /**
   * Starts work on a message and returns the id of its task; one that is known by its id starts nothing and
   * returns the task it led to before. Throws SystemError.
   */
  open(request: TaskRequest): string {
    this.intake.checkRun();
    const { message, requester } = request;
    const sent = request.isKnownById === true ? this.#sent.recall(requester, message) : null;
    if (sent?.taskId !== undefined) return sent.taskId;
    const id = request.id ?? this.#options.ids.next();
    const before = request.id === undefined ? undefined : this.#ended(request.id);
    const { sessions } = this;
    const input = runInputOf(id, request, before, { ...this.#options, sessions });
    const task = this.#tasks.open(input, before, sent);
    if (sent !== null) this.#sent.begin(sent.key, task);
    return id;
  }

  /**
   * Puts a message to a task that waits, and returns the task's answer once it is on disk, with the task that
   * it led to: one that is known by its id is put to none again. Throws SystemError.
   */
  async say(id: string, said: SaidMessage): Promise<{ taskId: string; answer: MessageAnswer }> {
    this.intake.checkMessage();
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
      return (await deciding) ?? answerWithoutPending(this.reads.find(id)?.settled ?? null);
    } finally {
      this.#deciding.delete(deciding);
    }
  }

  /** Calls a task off and returns it; a final one is returned as it is. Throws SystemError. */
  async cancel(id: string, reason: string): Promise<Task | undefined> {
    const at = this.#options.clock.now();
    await this.#tell(id, (task) => task.actor.send({ type: 'task.cancel', reason, at }));
    return this.reads.find(id);
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
    this.#tasks.registry.drain();
    const isParked = (id: string): boolean => this.reads.find(id)?.state === 'deferred';
    this.watchers.lostAll(shuttingDown(), isParked);
    const signal = AbortSignal.timeout(grace);
    const isOver = new Promise((over) => signal.addEventListener('abort', over));
    do {
      await Promise.race([isOver, Promise.allSettled(this.#deciding)]);
      await Promise.allSettled(this.#tasks.atWork().map((id) => this.watchers.settled(id, signal)));
      await turn();
      // A decision may have put a task to work meanwhile.
    } while (!signal.aborted && this.#deciding.size + this.#tasks.atWork().length > 0);
    this.#isDrained = true;
    this.watchers.lostAll(shuttingDown(), () => true);
    this.feed.end();
  }

  /** Stops every task and closes the store. */
  stop(): void {
    this.egress.stop();
    this.retention.stop();
    this.#options.store.flush();
    this.#tasks.stop();
    this.#options.store.close();
  }

  #refusalOf(id: string, { message, requester }: SaidMessage): Refusal | null {
    const asker = this.reads.find(id)?.requester ?? null;
    const refusal = this.#options.policy.refusalOfSpeaker(requester, asker);
    return refusal ?? screenPrompt(message, this.#options).refusal;
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
    this.intake.checkStarted();
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

  #ended(id: string): StoredTask | undefined {
    const stored = this.#options.store.rows.read(id);
    const isRunning = stored !== undefined && !isFinal(stored.task.state);
    if (isRunning || this.#tasks.find(id) !== undefined) {
      throw new SystemError(
        'task_running',
        `task ${id} is still running; wait for it to end, cancel it, or leave the id out`,
      );
    }
    return stored;
  }
}

function personOf({ provider, userId, email }: Caller): PersonKey {
  return { provider, userId, ...(email === undefined ? {} : { email }) };
}
