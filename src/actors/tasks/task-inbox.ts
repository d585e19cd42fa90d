import type { Refusal } from '../../machines/domain/finding.ts';
import { type Caller, isFinal, type Task } from '../../machines/domain/task.ts';
import {
  attemptedBy,
  type DecisionAttempt,
  isUnchecked,
} from '../../machines/governance/approvers.ts';
import { answerWithoutPending, type DecisionAnswer } from '../../machines/governance/decision.ts';
import type { PersonKey } from '../../machines/governance/same-person.ts';
import { stillCounting, tightened } from '../../machines/governance/tightened.ts';
import type { MessageAnswer } from '../../machines/task/task-events.ts';
import { ruledTask } from '../../machines/task/task-input.ts';
import { ruleToday, screenPrompt, stillRuled } from '../governance/governance.ts';
import type { PeopleDirectory } from '../people/people.ts';
import type { SentMessage } from '../records/records.ts';
import { shuttingDown, uncheckedMember, unrecorded } from '../system-error.ts';
import { askTask } from './ask-task.ts';
import { shownMessage } from './effects/shown-message.ts';
import type { Intake } from './intake.ts';
import type { LiveTask } from './live-task.ts';
import type { LiveTasks, LiveTasksOptions } from './live-tasks.ts';
import { isConflict } from './lost-conflict.ts';
import { orElsewhere } from './or-elsewhere.ts';
import { proposedEdit } from './proposed-edit.ts';
import type { RememberedCall, Remembering } from './remembering.ts';
import type { SentMessages } from './sent-messages.ts';
import type { HandedRequest, SharedWork } from './shared-work.ts';
import type { TaskReads } from './task-reads.ts';
import { stillRunning } from './task-refusals.ts';
import type { SaidMessage } from './task-request.ts';

export interface TaskInboxPorts
  extends Pick<LiveTasksOptions, 'store' | 'clock' | 'policies' | 'tools' | 'log' | 'ids'> {
  shared: SharedWork | null;
  tasks: LiveTasks;
  sent: SentMessages;
  reads: TaskReads;
  intake: Intake;
  people: PeopleDirectory;
  remembering: Remembering;
}

/** Maximum attempts to send an event to a task that is unloaded meanwhile. */
const maximumTries = 4;

/** Maximum attempts to count a repeated call: many may arrive at several daemons at once. */
const maximumCounts = 50;

/**
 * Events for existing tasks: messages, decisions, cancels. Each resolves once its effects are on disk. A task that a
 * daemon of a later release saved gets its event from such a daemon.
 */
export class TaskInbox {
  readonly #ports: TaskInboxPorts;
  readonly #deciding = new Set<Promise<unknown>>();
  #isDrained = false;

  constructor(ports: TaskInboxPorts) {
    this.#ports = ports;
  }

  /** The decisions that are not yet on disk. */
  get deciding(): ReadonlySet<Promise<unknown>> {
    return this.#deciding;
  }

  /** Refuses decisions from now on. */
  drain(): void {
    this.#isDrained = true;
  }

  /**
   * Adds a message to a waiting task. Resolves with the task's answer once it is on disk, and with the task's id; a
   * repeated message is not added again. Throws SystemError.
   */
  async say(id: string, said: SaidMessage): Promise<{ taskId: string; answer: MessageAnswer }> {
    // Safe to cast: the answer is that of `#sayHere`, here or at another daemon.
    return this.#request(id, { kind: 'say', said }) as ReturnType<TaskInbox['say']>;
  }

  async #sayHere(
    id: string,
    said: SaidMessage,
  ): Promise<{ taskId: string; answer: MessageAnswer }> {
    this.#ports.intake.checkMessage();
    if (said.isKnownById !== true) return this.#say(id, said, null);
    return this.#ports.sent.recalled(said, async (sent) => {
      const { taskId } = sent;
      if (taskId === undefined) return this.#say(id, said, sent);
      await this.#ports.sent.saved(sent.key).catch((error: unknown) => {
        throw unrecorded(this.#ports.store, error);
      });
      return { taskId, answer: { kind: 'kept' } };
    });
  }

  /** Submits a decision to a task and returns the task's answer once it is on disk. Throws SystemError. */
  async decide(id: string, attempted: DecisionAttempt): Promise<DecisionAnswer> {
    // Safe to cast: the answer is that of `#decideHere`, here or at another daemon.
    return this.#request(id, { kind: 'decide', attempted }) as Promise<DecisionAnswer>;
  }

  async #decideHere(id: string, attempted: DecisionAttempt): Promise<DecisionAnswer> {
    const refreshed = this.#ports.people.refresh(this.#ports.clock.now());
    if (refreshed !== null) await refreshed;
    // A decision now would start work that is stopped at once, with an unknown outcome.
    if (this.#isDrained) throw shuttingDown();
    let remembered: RememberedCall | null = null;
    const deciding = this.tellParked(id, ({ actor }): DecisionAnswer | null => {
      const { deferral, run, pending } = actor.getSnapshot().context;
      const { policies, clock } = this.#ports;
      const { requester, ran } = run;
      const facts = { requester, task: { id, ...ruledTask(run) }, ran, now: clock.now() };
      const { people } = this.#ports;
      const standing = people.standingOf(attemptedBy(attempted), clock.now());
      const approvals =
        deferral === null
          ? []
          : stillCounting(deferral, (email) =>
              people.standingOf({ email, caller: null }, clock.now()),
            );
      const attempt = { ...attempted, standing };
      const { policy } = policies.current;
      const applied = deferral && policy.deferRuleOf(deferral, facts);
      const today = deferral && ruleToday(applied?.rule ?? null, deferral, { policy, facts });
      if (deferral && isUnchecked(tightened(deferral, today, []), attempt)) throw uncheckedMember();
      const edit = proposedEdit(deferral, attempt, applied, { ...this.#ports, policy });
      const task = ruledTask(run);
      if (deferral !== null) remembered = { deferral, attempt, applied, requester, task };
      const fault = remembered === null ? null : this.#ports.remembering.faultOf(remembered);
      if (fault !== null) return { kind: 'notRememberable', text: fault } as const;
      const isElsewhere = run.hold !== undefined;
      const waiting = { call: pending.at(0), deferral, isElsewhere };
      const isRuled =
        attempt.verb === 'approve' &&
        this.#ports.tasks.areRulingsOwn &&
        stillRuled(waiting, this.#ports);
      return askTask(
        actor,
        { type: 'deferral.decide', attempt, today, edit, approvals, isRuled },
        'decision.answered',
      );
    });
    this.#deciding.add(deciding);
    try {
      const answer = await deciding;
      if (remembered !== null) await this.#remember(answer, remembered);
      if (answer !== null) return answer;
      // The live task may have been loaded from an older read.
      const stored = await this.#ports.store.rows.find(id);
      return answerWithoutPending(stored?.settled ?? null);
    } finally {
      this.#deciding.delete(deciding);
    }
  }

  /** An approval may release later calls; a rejection suspends such releases. */
  async #remember(answer: DecisionAnswer | null, call: RememberedCall): Promise<void> {
    if (answer?.kind !== 'resolved') return;
    try {
      if (call.attempt.verb === 'approve') await this.#ports.remembering.give(call);
      else await this.#ports.remembering.rejected(call.deferral, call.requester);
    } catch (error) {
      this.#ports.log.error({ error }, 'grants: a decision could not be remembered');
    }
  }

  async #say(
    id: string,
    said: SaidMessage,
    sent: SentMessage | null,
  ): Promise<{ taskId: string; answer: MessageAnswer }> {
    const { message, requester } = said;
    const refusal = await this.#refusalOf(id, said);
    const sender = requester === null ? null : personOf(requester);
    const { policies, clock } = this.#ports;
    const shown = shownMessage(message, sender, { ...policies.current, at: clock.now() });
    const event = { type: 'message.received', message, refusal, sender, shown } as const;
    const answer = await this.tellParked(id, (task) =>
      askTask(task.actor, event, 'message.answered', ({ kind }) => {
        if (sent === null || kind !== 'kept') return;
        task.keep(sent);
        this.#ports.sent.begin(sent.key, task);
      }),
    );
    return { taskId: id, answer: answer ?? { kind: 'notWaiting' } };
  }

  async #refusalOf(id: string, { message, requester }: SaidMessage): Promise<Refusal | null> {
    const asker = (await this.#ports.reads.find(id))?.requester ?? null;
    const { policies, log } = this.#ports;
    const { policy } = policies.current;
    const refusal = policy.refusalOfSpeaker(requester, asker);
    return refusal ?? screenPrompt(message, { policy, log }).refusal;
  }

  /** Like `#tell`, for events to a waiting task: a task running on another daemon is not disturbed. */
  tellParked<Answer>(id: string, send: (task: LiveTask) => Answer): Promise<Answer | null> {
    return this.#tell(id, send, () => this.#ports.tasks.activateParked(id));
  }

  /** Sends an event to a live task and waits until its effects are on disk. */
  async #tell<Answer>(
    id: string,
    send: (task: LiveTask) => Answer,
    activate: () => Promise<LiveTask | undefined>,
    most = maximumTries,
  ): Promise<Answer | null> {
    this.#ports.intake.checkStarted();
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
        if (!isConflict(error) || tries === most) throw unrecorded(this.#ports.store, error);
        // The task begun here was never saved, and its id may belong to another caller's task.
        if (!hasBegun(task)) throw stillRunning(id);
      }
    }
  }

  /** Cancels a task and returns it; a final task is returned unchanged. Throws SystemError. */
  async cancel(id: string, reason: string): Promise<Task | undefined> {
    await this.#request(id, { kind: 'cancel', reason });
    return this.#ports.reads.find(id);
  }

  async #cancelHere(id: string, reason: string): Promise<null> {
    const at = this.#ports.clock.now();
    await this.#tell(
      id,
      (task) => task.actor.send({ type: 'task.cancel', reason, at }),
      () => this.#ports.tasks.activateToEnd(id),
    );
    return null;
  }

  /** Answers a request that reached a daemon of an older release. Rejects with SystemError. */
  answer(id: string, request: HandedRequest): Promise<unknown> {
    switch (request.kind) {
      case 'decide':
        return this.#decideHere(id, request.attempted);
      case 'say':
        return this.#sayHere(id, request.said);
      case 'cancel':
        return this.#cancelHere(id, request.reason);
      case 'join':
        return this.#joinHere(id);
      case 'showedLink':
        return this.#showedLinkHere(id);
      case 'callerLeft':
        return this.#callerLeftHere(id);
    }
  }

  /** Runs a request here, or passes it on if a later release has saved the task, as during an upgrade. */
  #request(id: string, request: HandedRequest): Promise<unknown> {
    return orElsewhere({ ...this.#ports, id, request }, () => this.answer(id, request));
  }

  /** Counts another request for the waiting call of a task; approvers see the count. Throws SystemError. */
  async join(id: string): Promise<void> {
    await this.#request(id, { kind: 'join' });
  }

  async #joinHere(id: string): Promise<void> {
    const count = (task: LiveTask): void => task.actor.send({ type: 'call.repeated' });
    await this.#tell(id, count, () => this.#ports.tasks.activateParked(id), maximumCounts);
  }

  /** Records that the caller's client has answered the address of the page for a waiting call. Throws SystemError. */
  async showedLink(id: string): Promise<void> {
    await this.#request(id, { kind: 'showedLink' });
  }

  async #showedLinkHere(id: string): Promise<void> {
    await this.tellParked(id, (task) => task.showedLink());
  }

  /** Notifies a task that its streaming caller has disconnected. */
  async callerLeft(id: string): Promise<void> {
    await this.#request(id, { kind: 'callerLeft' });
  }

  async #callerLeftHere(id: string): Promise<void> {
    const at = this.#ports.clock.now();
    await this.tellParked(id, (task) => task.actor.send({ type: 'caller.left', at }));
  }
}

function hasBegun({ committed }: LiveTask): boolean {
  return committed !== null && !isFinal(committed.state);
}

function personOf({ provider, userId, email }: Caller): PersonKey {
  return { provider, userId, ...(email === undefined ? {} : { email }) };
}
