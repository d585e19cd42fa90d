import type { ToldHold, ToldHolds, ToldOutcome } from '../helpers/broken-hold.ts';
import type { SimulatedTeam } from './simulated-team.ts';

/** The answers to callers and approvers, which must be true from then on. */
export class Told {
  /** Tasks that a caller received. */
  readonly accepted = new Set<string>();
  /** Final states as they were answered, by task. */
  readonly ended = new Map<string, string>();
  /** Decisions that were answered as the one that counts, by the call that waited. */
  readonly decisions = new Map<string, { taskId: string; decision: string; approver: string }[]>();
  /** The decisions that people sent, and their groups then. */
  readonly team: Pick<SimulatedTeam, 'rightsOf'>;
  /** Holds and outcomes as they were answered. */
  readonly #answers: ToldHold[] = [];
  readonly #outcomes: ToldOutcome[] = [];

  constructor(team: Pick<SimulatedTeam, 'rightsOf'>) {
    this.team = team;
  }

  /** The answers to programs about their holds. */
  get holds(): ToldHolds {
    return { answers: this.#answers, outcomes: this.#outcomes };
  }

  /** Returns the answers until now. */
  asItIs(): Told {
    const told = new Told(this.team);
    for (const id of this.accepted) told.accepted.add(id);
    for (const [id, state] of this.ended) told.ended.set(id, state);
    for (const [id, decisions] of this.decisions) told.decisions.set(id, decisions);
    told.#answers.push(...this.#answers);
    told.#outcomes.push(...this.#outcomes);
    return told;
  }

  /** Notes a decision that was answered as the one that counts. */
  decided(callId: string, made: { taskId: string; decision: string; approver: string }): void {
    this.decisions.set(callId, [...(this.decisions.get(callId) ?? []), made]);
  }

  /** Notes the answer to a program that asked for its call. */
  answered(answer: ToldHold): void {
    this.#answers.push(answer);
  }

  /** Notes an outcome that was accepted. */
  closed(outcome: ToldOutcome): void {
    this.#outcomes.push(outcome);
  }
}
