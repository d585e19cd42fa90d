import { isFinal, type TaskState } from '../../src/machines/domain/task.ts';
import type { DecisionAnswer } from '../../src/machines/governance/decision.ts';

/** The model's state of one task that pays several times, each time after a release. */
export interface ModelTask {
  id: string;
  state: TaskState;
  text: string;
  /** Releases that are still needed, the pending one counted. */
  waits: number;
  expiresAt: number;
  /** True when the last wait ended with a decision. */
  isSettled: boolean;
  runs: number;
}

const waiting = 'Deferred: awaiting channel:console:* decision on pay';

/** How long the model's tasks wait. */
export const waitTime = 300_000;

/** What is expected of a task system, in the words of the contract and nothing else. */
export class TaskModel {
  readonly tasks: ModelTask[] = [];

  send(id: string, waits: number, now: number): void {
    const task = { id, waits, runs: 0, expiresAt: 0, isSettled: false };
    this.tasks.push({ ...task, state: 'submitted', text: '' });
    this.#goOn(this.tasks.at(-1)!, now);
  }

  /** Decides as often as there are verbs, at once; returns the kinds of answer that are due. */
  decide(task: ModelTask, verbs: ('approve' | 'reject')[], now: number): DecisionAnswer['kind'][] {
    const [first] = verbs;
    if (task.state !== 'deferred')
      return verbs.map(() => (task.isSettled ? 'decided' : 'notPending'));
    task.isSettled = true;
    if (first === 'reject') this.#end(task, 'failed', 'defer: rejected by ann');
    else {
      task.runs += 1;
      task.waits -= 1;
      this.#goOn(task, now);
    }
    return verbs.map((_, index) => (index === 0 ? 'resolved' : 'decided'));
  }

  cancel(task: ModelTask): void {
    if (!isFinal(task.state)) this.#end(task, 'canceled', 'canceled: external_signal');
  }

  passTime(now: number): void {
    for (const task of this.#parked()) {
      if (task.expiresAt > now) continue;
      this.#end(task, 'failed', 'defer: no decision within 5m0s (auto-deny)');
    }
  }

  restart(mode: 'abandon' | 'resume'): void {
    if (mode === 'resume') return;
    for (const task of this.#parked())
      this.#end(task, 'failed', 'defer: abandoned by service restart');
  }

  #goOn(task: ModelTask, now: number): void {
    const isDone = task.waits === 0;
    task.state = isDone ? 'completed' : 'deferred';
    task.text = isDone ? 'done' : waiting;
    if (isDone) return;
    task.expiresAt = now + waitTime;
    task.isSettled = false;
  }

  #end(task: ModelTask, state: TaskState, text: string): void {
    task.state = state;
    task.text = text;
  }

  #parked(): ModelTask[] {
    return this.tasks.filter(({ state }) => state === 'deferred');
  }
}
