import type { ActorRefFrom, AnyActorRef, SnapshotFrom, StateValue } from 'xstate';
import type { TaskFact } from '../../machines/domain/facts.ts';
import {
  isFinal,
  type RemoteTask,
  type Task,
  type WaitElsewhere,
} from '../../machines/domain/task.ts';
import { newOutcomes } from '../../machines/task/decided-calls.ts';
import { describeCrash, describeTask, stateOf } from '../../machines/task/describe-task.ts';
import { causes, wordOfEvent } from '../../machines/task/entered-state.ts';
import * as factOf from '../../machines/task/fact-of.ts';
import * as failureOf from '../../machines/task/failure-of.ts';
import { type LedgerVersion, ledgerChanges } from '../../machines/task/ledger-changes.ts';
import { limitReached } from '../../machines/task/limits.ts';
import type { StartStanding } from '../../machines/task/task-events.ts';
import type { TaskRun } from '../../machines/task/task-input.ts';
import type { taskMachine } from '../../machines/task/task-machine.ts';
import type { AuditEvent } from '../ports/audit-event.ts';
import type { Clock } from '../ports/clock.ts';
import type { EgressScope } from '../ports/egress.ts';
import {
  type AgentEntity,
  auditEventOf,
  type Capture,
  type SentMessage,
  type StoredTask,
  type TaskStore,
  type TaskWrite,
} from '../records/records.ts';
import { RunTrace } from '../telemetry/telemetry.ts';
import { BusyTime } from './busy-time.ts';
import { EnteredPath } from './entered-path.ts';
import { EnteredStates, type PassedStates } from './entered-states.ts';
import { keptRun, keptValue } from './kept-run.ts';
import type { Measured } from './measured.ts';
import { RunMeasures } from './run-measures.ts';

/** The actor of one task. */
export type TaskActor = ActorRefFrom<typeof taskMachine>;

export type TaskSnapshot = SnapshotFrom<typeof taskMachine>;

export interface LiveTaskPorts {
  store: TaskStore;
  clock: Clock;
  /** Envelope keys of every audit event of the agent. */
  envelope: AgentEntity;
  /** Digest of the policy in force. */
  policySha256: () => string;
  /** True if a rule in force may hold calls of a tool, so that approvers see earlier equal calls. */
  mayHold: (tool: string) => boolean;
  /** Captures contents for the log; `null` if disabled. */
  capture: Capture | null;
  /** The words of decisions in the log, in addition to those of Holdpoint. */
  vocabulary: 'holdpoint' | 'aarm';
  onCommitted: (live: LiveTask, saved: Saved) => void;
  onLost: (live: LiveTask, error: Error) => void;
  /** Receives a measurement for every finished tool call and approval wait. */
  onMeasured: (measured: Measured) => void;
}

/** A committed change of a task. */
export interface Saved {
  task: Task;
  /** The previous version; `null` for the first change. */
  before: Task | null;
  /** States passed since the previous commit. */
  passed: PassedStates;
}

/**
 * A task with a running actor, and its stored state. Facts of the chart are saved together with the resulting state;
 * observers see only committed changes.
 */
export class LiveTask {
  readonly id: string;
  #isAlone = false;
  /** Trace of the run while it is live. */
  readonly trace: RunTrace;
  readonly #ports: LiveTaskPorts;
  #actor: TaskActor | null = null;
  #committed: Task | null;
  #revision: number;
  #auditSeq: number;
  /** The call whose start is on disk, but not its end. */
  #startedCall: string | null;
  #events: AuditEvent[] = [];
  #sent: SentMessage[] = [];
  #saving: Promise<void> | null = null;
  #isQueued = false;
  #pending: (LedgerVersion & { passed: PassedStates; auditSeq: number }) | null = null;
  readonly #states: EnteredStates;
  readonly #path: EnteredPath;
  readonly #busy = new BusyTime();
  readonly #measures: RunMeasures;
  #crashed = false;
  #isClaimed = false;
  /** The call for which the ledger reserved, until its start is on disk. */
  #reserved: string | null = null;
  /** The pending write, collected before the actor stopped. */
  #sealed: (() => TaskWrite) | null = null;
  /** The error of a lost change; afterwards the task is never saved again. */
  #lost: Error | null = null;

  /** `parent` is the run's parent trace as a W3C `traceparent`; `null` for none. */
  constructor(
    id: string,
    stored: StoredTask | undefined,
    parent: string | null,
    ports: LiveTaskPorts,
  ) {
    this.id = id;
    this.trace = new RunTrace({ taskId: id, agent: ports.envelope.entity_id ?? '' }, parent);
    this.#ports = ports;
    this.#measures = new RunMeasures(this.trace, ports.onMeasured);
    this.#committed = stored?.task ?? null;
    this.#revision = stored?.task.revision ?? 0;
    this.#auditSeq = stored?.auditSeq ?? 0;
    this.#startedCall = stored?.startedCall ?? null;
    const state = stored?.task.state ?? null;
    const begins = state === null || isFinal(state);
    this.#states = new EnteredStates(begins ? null : state);
    this.#path = new EnteredPath(begins ? null : keptValue(stored));
    if (begins) this.#path.see('submitted', () => causes.begun, ports.clock.now());
  }

  /** The actor; set as soon as the task is live. */
  get actor(): TaskActor {
    if (this.#actor === null) throw new Error(`task ${this.id} has no actor`);
    return this.#actor;
  }

  set actor(actor: TaskActor) {
    this.#actor = actor;
    // The registry handles errors.
    actor.subscribe({ error: () => undefined });
  }

  /** Records the state in which a stored snapshot, migrated to the current chart, resumes. */
  resumeFrom(value: StateValue): void {
    this.#path.see(value, () => causes.resumed, this.#ports.clock.now());
  }

  /** Processes the state of the chart after an event. */
  moved(snapshot: TaskSnapshot, event: string, actor: AnyActorRef = this.actor): void {
    // A stopped actor's id may have been reused.
    if (this.#actor !== null && actor !== this.#actor) return;
    const at = this.#ports.clock.now();
    this.#path.see(snapshot.value, () => wordOfEvent(event), at);
    this.#states.see(snapshot, at);
    this.#busy.see(snapshot, at);
  }

  /** Egress scope of this run. */
  get scope(): EgressScope {
    const { correlationId, tags } = this.actor.getSnapshot().context.run;
    return { taskId: this.id, correlationId, tags };
  }

  /** The committed task; `null` until its first save. */
  get committed(): Task | null {
    return this.#committed;
  }

  /** The committed revision; 0 until the first save. */
  get revision(): number {
    return this.#revision;
  }

  /** Returns whether a committed deadline has passed at a time in epoch milliseconds. */
  isDue(at: number): boolean {
    const wakeAt = this.#committed?.wakeAt ?? null;
    return wakeAt !== null && wakeAt <= at && this.actor.getSnapshot().status === 'active';
  }

  /** Ends the run if its work exceeds the time limit at a time in epoch milliseconds. */
  endOverrun(at: number): void {
    const { status, context } = this.actor.getSnapshot();
    const busy = this.#busy.until(at);
    if (status !== 'active' || busy === 0) return;
    if (limitReached(context.spent, context.run.limits, busy) !== 'time') return;
    this.actor.send({ type: 'time.passed', at, busy });
  }

  set isAlone(isAlone: boolean) {
    this.#isAlone = isAlone;
  }

  /** True while no other task can be in the session: it is new, and nobody has received its id. */
  get isAlone(): boolean {
    return this.#isAlone && this.#committed === null;
  }

  /** True while a commit is pending. */
  get isSaving(): boolean {
    return this.#saving !== null;
  }

  /** Stores that the ledger reserved for a call, which must start or give it back. */
  reserved(callId: string): void {
    this.#reserved = callId;
  }

  /** Registers a message with the next commit, so that it is recognised when it is sent again. */
  keep(sent: SentMessage): void {
    this.#sent.push(sent);
  }

  /**
   * Saves the task as owned by this daemon after others considered the daemon dead. Rejects if it could not be saved.
   */
  claim(): Promise<void> {
    this.#isClaimed = true;
    this.#save();
    return this.saved();
  }

  /** Records a fact of the chart, and saves it together with the resulting state. */
  note(
    fact: TaskFact,
    { correlationId, tags, hold }: Pick<TaskRun, 'correlationId' | 'tags' | 'hold'>,
  ): void {
    this.#auditSeq += 1;
    this.#events.push(
      auditEventOf(
        fact,
        {
          ...this.#ports.envelope,
          ...tags,
          ...this.trace.ids,
          ts: new Date(this.#ports.clock.now()).toISOString(),
          seq: this.#auditSeq,
          task_id: this.id,
          correlation_id: correlationId,
        },
        {
          ...this.#ports,
          policySha256: this.#ports.policySha256(),
          isHold: hold !== undefined,
        },
      ),
    );
    this.#measures.noted(fact);
    this.#save();
  }

  /** Publishes where the running call waits for a person; `null` when it continues. */
  waits(wait: WaitElsewhere | null): void {
    if (this.actor.getSnapshot().status !== 'active') return;
    this.actor.send({ type: 'tool.waiting', wait });
    this.#save();
  }

  /** Stores the task of another program that continues the running call. */
  detached(remote: RemoteTask): void {
    if (this.actor.getSnapshot().status !== 'active') return;
    this.actor.send({ type: 'tool.detached', remote });
    this.#save();
  }

  /** Records that the caller's client has answered the address of the page; nothing is logged. */
  showedLink(): void {
    this.actor.send({ type: 'link.shown' });
    this.#save();
  }

  /** Ends the task after an internal error stopped its chart. */
  crash(): void {
    this.#crashed = true;
    const { context } = this.actor.getSnapshot();
    const at = this.#ports.clock.now();
    for (const cutOff of factOf.toolCutOff(context, at, failureOf.crashed.text)) {
      this.note(cutOff, context.run);
    }
    this.note({ type: 'session.ended', state: 'failed' }, context.run);
  }

  /** Resolves when everything recorded so far is on disk. Rejects if it could not be saved. */
  saved(): Promise<void> {
    return this.#saving ?? Promise.resolve();
  }

  /** Resumes a task that waits for its save; `standing` describes the start of its call. */
  goOn(standing: StartStanding): void {
    const snapshot = this.actor.getSnapshot();
    if (snapshot.status !== 'active' || !snapshot.hasTag('saving')) return;
    this.actor.send({ type: 'task.saved', standing, at: this.#ports.clock.now() });
  }

  /** Collects the pending write now; the state of a stopped actor cannot be collected later. */
  seal(): void {
    if (!this.#isQueued) return;
    try {
      const write = this.#collect();
      this.#sealed = () => write;
    } catch (error) {
      this.#sealed = () => {
        throw error;
      };
    }
  }

  #save(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    const saving: Promise<void> = this.#ports.store
      .save(this.id, () => (this.#sealed ?? (() => this.#collect()))())
      .then(
        () => this.#committedTo(saving),
        (error: unknown) => {
          this.#lost ??= error instanceof Error ? error : new Error(String(error));
          this.#giveBack();
          this.#ports.onLost(this, this.#lost);
          throw error;
        },
      );
    // Callers of `saved` receive the failure; without callers it must not be an unhandled rejection.
    saving.catch(() => undefined);
    this.#saving = saving;
  }

  #collect(): TaskWrite {
    this.#isQueued = false;
    // The log would contain its events without the preceding ones.
    if (this.#lost !== null) {
      const cause = this.#lost;
      throw new Error(`a change of task ${this.id} before this one was lost`, { cause });
    }
    const snapshot = this.actor.getSnapshot();
    const at = this.#ports.clock.now();
    const saved = this.#crashed ? 'failed' : stateOf(snapshot);
    const passed = this.#states.passed(this.#committed, this.#revision, saved);
    const revision = this.#revision + passed.count + 1;
    const previous = passed.count === 0 ? this.#committed : null;
    const described = describeTask(snapshot, at, revision, previous);
    const task = this.#crashed ? describeCrash(described, failureOf.crashed, at) : described;
    const events = this.#events;
    this.#events = [];
    const sent = this.#sent;
    if (sent.length > 0) this.#sent = [];
    if (this.#crashed) this.#path.see('failed', () => causes.crashed, at);
    const entered = this.#path.take();
    const outcomes = newOutcomes(this.#committed, task);
    const isClaimed = this.#isClaimed;
    this.#isClaimed = false;
    const kept = keptRun(snapshot, isFinal(task.state));
    const { startedCall } = kept;
    const before = this.#committed && { task: this.#committed, startedCall: this.#startedCall };
    const { exchanges } = snapshot.context;
    const ledger = ledgerChanges(before, { task, startedCall, exchanges }).filter(
      (one) =>
        one.type === 'ended' ||
        one.entries.length > 0 ||
        task.hold !== undefined ||
        this.#ports.mayHold(one.tool),
    );
    this.#pending = { task, startedCall, passed, auditSeq: this.#auditSeq };
    return {
      change: {
        task,
        expected: this.#revision,
        ...kept,
        auditSeq: this.#auditSeq,
        ...(sent.length === 0 ? {} : { sent }),
        ...(entered.length === 0 ? {} : { entered }),
        ...(outcomes.length === 0 ? {} : { outcomes }),
        ...(ledger.length === 0 ? {} : { ledger }),
        ...(isClaimed ? { isClaimed } : {}),
      },
      events,
    };
  }

  /** A call that did not start counts for no limit. */
  #giveBack(): void {
    if (this.#reserved !== null) this.#ports.store.ledger.forget(this.#reserved);
    this.#reserved = null;
  }

  #committedTo(saving: Promise<void>): void {
    if (this.#saving === saving) this.#saving = null;
    if (this.#pending === null || this.#pending.task.revision === this.#revision) return;
    const { task, startedCall, passed, auditSeq } = this.#pending;
    this.#pending = null;
    const before = this.#committed;
    this.#measures.committed(before, task);
    if (isFinal(task.state)) this.trace.end(task.state);
    this.#committed = task;
    this.#startedCall = startedCall;
    this.#revision = task.revision;
    if (task.ran?.some(({ callId }) => callId === this.#reserved)) this.#reserved = null;
    if (isFinal(task.state) || task.state === 'deferred') this.#giveBack();
    try {
      this.#ports.onCommitted(this, { task, before, passed });
    } finally {
      // If facts were recorded since, they are not on disk yet, so the next commit resumes the task.
      if (auditSeq === this.#auditSeq) this.goOn('first');
    }
  }
}
