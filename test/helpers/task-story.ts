import type { Snapshot } from 'xstate';
import type { TaskFact } from '../../src/machines/domain/facts.ts';
import { isFinal, type Task } from '../../src/machines/domain/task.ts';
import type { DecisionAnswer } from '../../src/machines/governance/decision.ts';
import type { ToolRules } from '../../src/machines/governance/ruling.ts';
import { rewindCall } from '../../src/machines/task/rewind-call.ts';
import type { KeptSnapshot } from '../../src/machines/task/snapshot-steps.ts';
import type {
  RunToolInput,
  StartStanding,
  ThinkInput,
} from '../../src/machines/task/task-events.ts';
import { TaskRun } from './run-task.ts';
import {
  aCall,
  aDeferRule,
  aFollowUp,
  anAttempt,
  minted,
  modelFailed,
  returned,
  said,
  saved,
  toolFailed,
  toolRules,
} from './task-fixtures.ts';

/** Who may decide in a story. */
export const approvers = ['ann@x.org', 'bob@x.org'];

/** One thing that can happen in the life of a task. */
export type Command =
  | { type: 'goOn'; goesWell: boolean }
  | {
      type: 'decide';
      verb: 'approve' | 'reject';
      email: string | null;
      deferralId: string | null;
    }
  | { type: 'restore'; isIdempotent: boolean }
  | { type: 'say'; text: string }
  | { type: 'task.cancel' }
  | { type: 'caller.left' }
  | { type: 'service.restarted' }
  /** `by` is in milliseconds. */
  | { type: 'timePasses'; by: number };

/**
 * A task that lives through commands, over restarts of the daemon, and all it ever told. Its model
 * asks for two held calls in each of two turns and then answers.
 */
export class TaskStory {
  readonly facts: TaskFact[] = [];
  readonly answers: DecisionAnswer[] = [];
  /** The calls that ran, each with what had been told before. */
  readonly ran: { input: RunToolInput; before: TaskFact[] }[] = [];
  /** The messages that were kept while a call waited, in order. */
  readonly kept: string[] = [];
  /** What the model was given in each of its turns. */
  readonly thought: ThinkInput[] = [];
  /** How often a call ran again because it may be repeated. */
  repeats = 0;
  readonly #quorum: number;
  #run: TaskRun;
  #standing: StartStanding = 'first';

  constructor(quorum: number) {
    this.#quorum = quorum;
    this.#run = new TaskRun({ rulesFor: () => this.#rules() });
  }

  get task(): Task {
    return this.#run.task;
  }

  /** What a store would be given of the task. */
  get snapshot(): Snapshot<unknown> {
    return this.#run.actor.getPersistedSnapshot();
  }

  /** Lets one thing happen; nothing can happen to a task that has ended. */
  async live(command: Command): Promise<void> {
    if (isFinal(this.task.state)) return;
    const run = this.#run;
    const at = run.clock.now();
    if (command.type === 'goOn') await this.#goOn(command.goesWell, at);
    else if (command.type === 'restore') this.#restore(command.isIdempotent);
    else if (command.type === 'say') this.#say(command.text);
    else if (command.type === 'timePasses') run.clock.increment(command.by);
    else if (command.type === 'decide')
      await run.decide(anAttempt({ ...command, approver: null, at }));
    else if (command.type === 'task.cancel') run.send({ ...command, reason: 'timeout', at });
    else run.send({ ...command, at });
    // A deadline that had passed when its wait began is reached at once.
    this.#run.clock.increment(0);
    this.#collect();
  }

  async #goOn(goesWell: boolean, at: number): Promise<void> {
    const run = this.#run;
    switch (run.awaited) {
      case 'think': {
        const { turns } = run.actor.getSnapshot().context.spent;
        const calls = turns > 2 ? [] : [`call-${turns}-1`, `call-${turns}-2`];
        const thought = said(
          'done',
          calls.map((id) => aCall({ id })),
          at,
        );
        return run.finish('think', goesWell ? thought : modelFailed('no quota', at));
      }
      case 'mint':
        return run.finish('mint', minted(goesWell ? null : 'no'));
      case 'disk': {
        const standing = this.#standing;
        this.#standing = 'first';
        if (standing === 'repeatable') this.repeats += 1;
        return run.send(saved(standing, at));
      }
      case 'runTool':
        return run.finish('runTool', goesWell ? returned('done', at) : toolFailed('no', at));
      case null:
    }
  }

  /** A call that had started resumes where it waits for its standing, from any state. */
  #restore(isIdempotent: boolean): void {
    const { actor, clock } = this.#run;
    const hasStarted = actor.getSnapshot().context.startedAt !== null;
    this.#standing = !hasStarted ? 'first' : isIdempotent ? 'repeatable' : 'unknown';
    this.#collect();
    const snapshot = rewindCall(this.#run.stored() as unknown as KeptSnapshot) as never;
    this.#run.actor.stop();
    this.#run = new TaskRun({ snapshot, now: clock.now(), rulesFor: () => this.#rules() });
  }

  #say(text: string): void {
    const answers: string[] = [];
    const listening = this.#run.actor.on('message.answered', ({ answer }) => {
      answers.push(answer.kind);
    });
    const { message } = aFollowUp(text);
    this.#run.send({ type: 'message.received', message, refusal: null, sender: null });
    listening.unsubscribe();
    if (answers[0] === 'kept') this.kept.push(text);
  }

  #rules(): ToolRules {
    // Stories with a quorum also have credentials to make.
    const credential = this.#quorum > 1 ? 'static' : null;
    return toolRules({ defer: aDeferRule({ quorum: this.#quorum, approvers }), credential });
  }

  #collect(): void {
    const { facts, answers, inputs } = this.#run;
    this.facts.push(...facts.splice(0));
    this.answers.push(...answers.splice(0));
    this.thought.push(...inputs.think.splice(0));
    for (const input of inputs.runTool.splice(0)) {
      this.ran.push({ input, before: [...this.facts] });
    }
  }
}
