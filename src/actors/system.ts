import { setImmediate as turn } from 'node:timers/promises';
import type { DecisionAttempt } from '../machines/governance/approvers.ts';
import { answerWithoutPending, type DecisionAnswer } from '../machines/governance/decision.ts';
import type { Refusal } from '../machines/governance/finding.ts';
import type { PersonKey } from '../machines/governance/same-person.ts';
import {
  type Caller,
  isFinal,
  type Message,
  type Surface,
  type Task,
  type TaskState,
} from '../machines/task/task.ts';
import { everything, type OwnedTask, ownerOfNextRun } from '../machines/task/task-access.ts';
import type { MessageAnswer } from '../machines/task/task-events.ts';
import { taskMachineVersion } from '../machines/task/task-machine.ts';
import { egressWords } from './audit/audit.ts';
import { screenPrompt } from './policy/screen-prompt.ts';
import type { EgressRecord } from './ports.ts';
import { messageKey, type SentMessage } from './storage/message-rows.ts';
import type { ChangedQuery, TaskFilter, TaskPage, TaskQuery } from './storage/task-listing.ts';
import type { StoredTask } from './storage/task-rows.ts';
import { ConflictError, type TaskStore } from './storage/task-store.ts';
import type { LiveTask, Measured } from './system/live-task.ts';
import { LiveTasks, type LiveTasksOptions } from './system/live-tasks.ts';
import { SentMessages } from './system/sent-messages.ts';
import { SystemError } from './system/system-error.ts';
import { Turns } from './system/turns.ts';
import { type Progress, type Watcher, Watchers } from './system/watchers.ts';

export type { SystemErrorCode } from './system/system-error.ts';
export {
  type ChangedQuery,
  type Measured,
  type Progress,
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

/** A message as it is known again, with the task that it led to before. */
interface Recalled extends SentMessage {
  taskId?: string;
}

/** What the task system is made of. */
export interface TaskSystemOptions
  extends Omit<LiveTasksOptions, 'watchers' | 'onMeasured' | 'onChanged'> {
  onRestart: 'abandon' | 'resume';
  /** How long a final task is kept, in milliseconds. */
  retention: number;
}

/** Tasks given up in one commit when the service restarts. */
const abandonedAtOnce = 500;

/** How often a lost process lets its tasks be seen again by another try, at most. */
const maximumTries = 4;

/**
 * The one way to tasks: start, find, follow, decide, cancel. What it tells is always on disk
 * already. Every refusal is a SystemError.
 */
export class TaskSystem {
  readonly #options: TaskSystemOptions;
  readonly #store: TaskStore;
  readonly #watchers: Watchers;
  readonly #tasks: LiveTasks;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #measuring: ((measured: Measured) => void)[] = [];
  readonly #following: ((task: Task) => void)[] = [];
  /** Decisions that are not on disk yet. */
  readonly #deciding = new Set<Promise<unknown>>();
  readonly #sent: SentMessages;
  readonly #lists = new Turns();
  #hasStrangers = false;
  #isDrained = false;
  #isStopped = false;

  constructor(options: TaskSystemOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#watchers = new Watchers();
    const onMeasured = (measured: Measured): void => {
      for (const hear of this.#measuring) hear(measured);
    };
    const onChanged = (task: Task): void => {
      for (const hear of this.#following) hear(task);
    };
    this.#tasks = new LiveTasks({ ...options, watchers: this.#watchers, onMeasured, onChanged });
    this.#sent = new SentMessages({
      rows: this.#store.rows.messages,
      find: (id) => this.#tasks.find(id),
    });
  }

  /**
   * Begins to work: what a restart interrupted is given up or gone on with, as configured, and
   * deadlines that passed meanwhile take effect (contract section 4).
   */
  async start(): Promise<void> {
    this.#store.releases.keep(taskMachineVersion, this.#options.release);
    this.#nameStrangers();
    if (this.#options.onRestart === 'abandon') await this.#abandonInterrupted();
    this.#tasks.start();
    this.resumeInterrupted();
    this.deleteExpired();
    this.#every(1_000, () => {
      this.#tasks.restParked();
      this.#tasks.takeUpUnrecorded();
    });
    this.#every(600_000, () => this.deleteExpired());
  }

  /** Goes on with tasks that the store has at work and that no actor works on. */
  resumeInterrupted(): void {
    for (const id of this.#store.rows.working()) {
      this.#skipUnreadable(() => this.#tasks.activate(id));
    }
  }

  /** True when new work is taken in and can be recorded. */
  isReady(): boolean {
    return this.#tasks.isAccepting && this.#store.isWritable();
  }

  /** Tasks with an actor, and tasks that wait for a decision. */
  load(): { live: number; deferred: number } {
    return { live: this.#tasks.size, deferred: this.#store.rows.count('deferred') };
  }

  /** How many tasks there are in each state that has any. */
  census(): Partial<Record<TaskState, number>> {
    return this.#store.rows.countByState();
  }

  /** How many tasks have not ended and can be gone on with by another release alone. */
  strangers(): number {
    // Nobody else writes to the store, so there are never more of them than at the start.
    if (!this.#hasStrangers) return 0;
    return this.#store.rows.strangers().reduce((sum, { tasks }) => sum + tasks, 0);
  }

  /** Has somebody hear of every tool call and every wait that ends, from now on; must not throw. */
  onMeasured(hear: (measured: Measured) => void): void {
    this.#measuring.push(hear);
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
    const sent = request.isKnownById === true ? this.#recall(request) : null;
    if (sent?.taskId !== undefined) return sent.taskId;
    const id = request.id ?? ids.next();
    const before = request.id === undefined ? undefined : this.#ended(request.id);
    const { requester } = request;
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
        history: before?.task.history ?? [],
        leftOut: before?.task.leftOut ?? 0,
        request: request.message,
        refusal: screenPrompt(request.message, this.#options),
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
  findBySent(message: Pick<TaskRequest, 'message' | 'requester'>): string | undefined {
    return this.#recall(message).taskId;
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

  /** Returns the task that waits on a deferral. */
  findByDeferral(deferralId: string): Task | undefined {
    return this.#store.rows.findByDeferral(deferralId);
  }

  /** Lists the tasks of a scope, the one that was made last first. Many lists at once hold nothing else up. */
  async list(query: TaskQuery, scope = everything): Promise<TaskPage> {
    await this.#lists.next();
    return this.#store.rows.listing.made(query, scope);
  }

  /** Lists the tasks of a scope, the one whose state changed last first. Many lists at once hold nothing else up. */
  async listChanged(query: ChangedQuery, scope = everything): Promise<TaskPage> {
    await this.#lists.next();
    return this.#store.rows.listing.changed(query, scope);
  }

  /** Counts the tasks that a listing without its pages would show, up to a limit of its own. */
  total(filter: TaskFilter, scope = everything): number {
    return this.#store.rows.listing.total(filter, scope);
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
    return new Promise((resolve, reject) => {
      const present = this.#latestRun(id);
      if (present !== undefined && isEnough(present.state)) return resolve(present);
      const leave = this.watch(id, {
        onTask: (task) => isEnough(task.state) && done(() => resolve(task)),
        onLost: (error) => done(() => reject(error)),
      });
      const abort = (): void => done(() => reject(signal.reason));
      const done = (finish: () => void): void => {
        leave();
        signal.removeEventListener('abort', abort);
        finish();
      };
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
  }

  /**
   * Puts a message to a task that waits, and returns the task's answer once it is on disk, with the task that
   * it led to: one that is known by its id is put to none again. Throws SystemError.
   */
  async say(id: string, said: SaidMessage): Promise<{ taskId: string; answer: MessageAnswer }> {
    if (!this.#tasks.isAccepting && !this.#tasks.isStarting) throw shuttingDown();
    if (!this.#store.isWritable()) throw unrecorded();
    const { message, requester } = said;
    const sent = said.isKnownById === true ? this.#recall(said) : null;
    if (sent?.taskId !== undefined) {
      await this.#sent.saved(sent.key).catch((error: unknown) => Promise.reject(unrecorded(error)));
      return { taskId: sent.taskId, answer: { kind: 'kept' } };
    }
    const refusal = this.#refusalOf(id, said);
    const sender = requester === null ? null : personOf(requester);
    const answer = await this.#tellParked(id, (task) => {
      let answered: MessageAnswer | null = null;
      const listening = task.actor.on('message.answered', (event) => {
        answered = event.answer;
        if (sent === null || event.answer.kind !== 'kept') return;
        task.keep(sent);
        this.#sent.begin(sent.key, task);
      });
      task.actor.send({ type: 'message.received', message, refusal, sender });
      listening.unsubscribe();
      return answered as MessageAnswer | null;
    });
    return { taskId: id, answer: answer ?? { kind: 'notWaiting' } };
  }

  #refusalOf(id: string, { message, requester }: SaidMessage): Refusal | null {
    const asker = this.find(id)?.requester ?? null;
    const refusal = this.#options.policy.refusalOfSpeaker(requester, asker);
    return refusal ?? screenPrompt(message, this.#options);
  }

  /** Puts a decision to a task and returns the task's answer, once it is on disk. Throws SystemError. */
  async decide(id: string, attempt: DecisionAttempt): Promise<DecisionAnswer> {
    // It would put a task to work that is stopped at once, and nobody could tell how far it came.
    if (this.#isDrained) throw shuttingDown();
    const deciding = this.#decide(id, attempt);
    this.#deciding.add(deciding);
    try {
      return await deciding;
    } finally {
      this.#deciding.delete(deciding);
    }
  }

  async #decide(id: string, attempt: DecisionAttempt): Promise<DecisionAnswer> {
    const answer = await this.#tellParked(id, (task) => {
      let answered: DecisionAnswer | null = null;
      const listening = task.actor.on('decision.answered', (event) => {
        answered = event.answer;
      });
      task.actor.send({ type: 'deferral.decide', attempt });
      listening.unsubscribe();
      return answered as DecisionAnswer | null;
    });
    return answer ?? answerWithoutPending(this.find(id)?.settled ?? null);
  }

  /**
   * Notes what the egress policy ruled on one hop, with the task it was for while that is at work. Once the
   * system has stopped, only the daemon's own last words may go out unnoted. Throws SystemError for others.
   */
  noteEgress(record: EgressRecord): void {
    const { scope } = record;
    if (this.#isStopped) {
      if (scope !== null && scope.taskId !== null) throw shuttingDown();
      return;
    }
    if (this.#tasks.noteEgress(record)) return;
    const [event, fields] = egressWords(record);
    const recorded = this.#store.record([
      {
        ...this.#options.envelope,
        ...scope?.tags,
        ts: new Date(this.#options.clock.now()).toISOString(),
        ...(scope?.taskId && { task_id: scope.taskId }),
        ...(scope?.correlationId && { correlation_id: scope.correlationId }),
        event,
        fields,
      },
    ]);
    recorded.catch((error: unknown) => {
      this.#options.log.error({ error }, 'egress: an event could not be recorded');
    });
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

  /** Deletes final tasks that are older than the retention. */
  deleteExpired(): void {
    const { clock, retention, log } = this.#options;
    if (this.#isStopped) return;
    try {
      const deleted = this.#store.deleteEnded(clock.now() - retention);
      if (deleted > 0) setImmediate(() => this.deleteExpired());
    } catch (error) {
      log.error({ error }, 'tasks: expired ones stay for now');
    }
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
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
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

  /** A message that ended in a step-up comes again with a better token, and is a new one then. */
  #recall({ message, requester }: Pick<TaskRequest, 'message' | 'requester'>): Recalled {
    const key = messageKey(requester, message.messageId);
    const taskId = this.#sent.find(key);
    if (taskId === undefined) return { key, supersedes: null };
    const isRefused = this.find(taskId)?.failure?.kind === 'stepUp';
    return isRefused ? { key, supersedes: taskId } : { key, supersedes: null, taskId };
  }

  /** Returns the latest run of a task as it stands on disk; `undefined` as long as nothing of it does. */
  #latestRun(id: string): Task | undefined {
    const live = this.#tasks.find(id);
    if (live === undefined) return this.find(id);
    // What a live task shows as final is the run before. Nothing has to be read, as every send asks this.
    const { committed } = live;
    return committed === null || isFinal(committed.state) ? undefined : committed;
  }

  #nameStrangers(): void {
    const found = this.#store.rows.strangers();
    this.#hasStrangers = found.length > 0;
    for (const { machineVersion, tasks } of found) {
      const release = this.#store.releases.find(machineVersion);
      this.#options.log.warn(
        { tasks, machine_version: machineVersion, ...(release === null ? {} : { release }) },
        'tasks: some wait for the release that saved them; start that one to decide them',
      );
    }
  }

  #refuseWhileStarting(): void {
    if (!this.#tasks.isStarting) return;
    throw new SystemError('starting', 'service is starting; try again in a moment');
  }

  async #abandonInterrupted(): Promise<void> {
    const { rows } = this.#store;
    const interrupted = [...rows.working(), ...rows.parked()];
    for (let first = 0; first < interrupted.length; first += abandonedAtOnce) {
      for (const id of interrupted.slice(first, first + abandonedAtOnce)) {
        this.#skipUnreadable(() => this.#tasks.abandon(id));
      }
      const failure = this.#store.flush();
      if (failure !== null) throw unrecorded(failure);
      // Lets each task hear that it was saved before more of them come to life.
      await new Promise((next) => setImmediate(next));
    }
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

  #skipUnreadable(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      this.#options.log.error({ error: error.message }, 'task: left as it was');
    }
  }

  #every(milliseconds: number, run: () => void): void {
    this.#timers.push(setInterval(run, milliseconds).unref());
  }
}

function personOf({ provider, userId, email }: Caller): PersonKey {
  return { provider, userId, ...(email === undefined ? {} : { email }) };
}

function shuttingDown(): SystemError {
  return new SystemError('shutting_down', 'service is shutting down');
}

function unrecorded(cause?: unknown): SystemError {
  return new SystemError(
    'unrecorded',
    'the service cannot record anything at the moment, so it takes no work; free disk space and try again',
    { cause },
  );
}
