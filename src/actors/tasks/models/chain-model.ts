import { AsyncResource } from 'node:async_hooks';
import { createActor, fromPromise, toPromise } from 'xstate';
import type { ModelName } from '../../../machines/domain/model-speaker.ts';
import { formatDuration } from '../../../machines/duration.ts';
import { type Candidate, fallbackMachine } from '../../../machines/models/fallback-machine.ts';
import {
  type CallOutcome,
  cooldownOf,
  type FailedCall,
  isPassing,
} from '../../../machines/models/model-call.ts';
import type { Clock } from '../../ports/clock.ts';
import {
  type Conversation,
  type LanguageModel,
  ModelError,
  type ModelListener,
  type Turn,
} from '../../ports/model.ts';
import { ModelFailure } from './model-failure.ts';
import { endpointOf, nameOf } from './model-subject.ts';
import type { ProviderModel } from './provider-model.ts';

interface Standing {
  /** Transient failures since the last answer. */
  failures: number;
  readyAt: number;
  /** The conversation of the last failure, and its number of consecutive failures. */
  by: string;
  inARow: number;
  /** True if the provider named the delay. */
  isAsked: boolean;
}

/** Cooldowns of models, shared by all turns. */
class Standings {
  readonly #standings = new Map<number, Standing>();
  readonly #tried = new Set<number>();

  /** Returns the end of a model's cooldown in epoch milliseconds; 0 if there is none. */
  readyAt(index: number): number {
    return this.#standings.get(index)?.readyAt ?? 0;
  }

  /** Records an answer of a model. */
  answered(index: number): void {
    this.#standings.delete(index);
  }

  /**
   * Lets one turn at a time call a model during its cooldown, unless the provider asked for the delay: the failure may
   * have concerned a single conversation. Returns whether this turn may; `settle` ends the attempt.
   */
  mayTry(index: number): boolean {
    if (this.#standings.get(index)?.isAsked === true || this.#tried.has(index)) return false;
    this.#tried.add(index);
    return true;
  }

  /** Ends an attempt allowed by `mayTry`. */
  settle(index: number): void {
    this.#tried.delete(index);
  }

  /**
   * Records a failed call, and returns the end of the model's cooldown for this conversation, in epoch milliseconds.
   * For other conversations, repeated failures of one conversation count once.
   */
  failed(
    index: number,
    { fault, retryAfter }: ModelFailure,
    { at, by }: { at: number; by: string },
  ): number {
    if (!isPassing(fault)) return at;
    const before = this.#standings.get(index);
    const isAgain = before?.by === by;
    const failures = (before?.failures ?? 0) + (isAgain ? 0 : 1);
    const inARow = isAgain ? before.inARow + 1 : 1;
    const readyAt = at + cooldownOf(failures, retryAfter);
    this.#standings.set(index, { failures, readyAt, by, inARow, isAsked: retryAfter !== null });
    return at + cooldownOf(Math.max(failures, inARow), retryAfter);
  }
}

/** Input of one turn. */
interface ChainTurn {
  chain: readonly ProviderModel[];
  standings: Standings;
  clock: Clock;
  conversation: Conversation;
  listener: ModelListener;
  /** Receives the turn of the model that answered. */
  onTurn: (turn: Turn) => void;
}

/**
 * Creates one model from a chain of models. The `fallback` chart selects the model to call; cooldowns are shared by all
 * turns. Throws TypeError for an empty chain.
 */
export function createChainModel(chain: readonly ProviderModel[], clock: Clock): LanguageModel {
  const [first] = chain;
  if (first === undefined) throw new TypeError('a chain has at least one model');
  const standings = new Standings();
  return {
    provider: first.subject.provider,
    name: first.subject.model,
    async next(conversation, { signal, ...listener }) {
      signal.throwIfAborted();
      let turn: Turn | null = null;
      const onTurn = (taken: Turn): void => {
        turn = taken;
      };
      const ask = createAsk({ chain, standings, clock, conversation, listener, onTurn });
      const now = clock.now();
      const ready = chain.map((_, index) => standings.readyAt(index));
      const tried = ready.some((at) => at <= now)
        ? -1
        : ready.findIndex((_, index) => standings.mayTry(index));
      const candidates = chain.map(({ subject: { provider, model } }, index) => ({
        provider,
        model,
        readyAt: index === tried ? now : (ready[index] ?? now),
      }));
      const machine = fallbackMachine.provide({ actors: { ask } });
      const actor = createActor(machine, { input: { candidates, now }, clock });
      const stop = (): void => void actor.stop();
      signal.addEventListener('abort', stop);
      try {
        const ended = toPromise(actor);
        actor.start();
        const { failures } = (await ended) ?? { failures: [] };
        signal.throwIfAborted();
        if (turn === null) throw new ModelError(chainFailure(failures, candidates, now));
        return turn;
      } finally {
        signal.removeEventListener('abort', stop);
        stop();
        standings.settle(tried);
      }
    },
  };
}

/** Creates the port of the chart; a failed call is a regular outcome, and leaving the state aborts the call. */
function createAsk({ chain, standings, clock, conversation, listener, onTurn }: ChainTurn) {
  const attempt = async (index: number, signal: AbortSignal): Promise<CallOutcome> => {
    const model = chain[index];
    if (model === undefined) throw new RangeError(`the chain has no model ${index}`);
    const { provider, model: name } = model.subject;
    const began = performance.now();
    const spent = () => ({
      provider,
      model: name,
      duration: Math.round(performance.now() - began),
    });
    let hasSpoken = false;
    const onToken = (text: string): void => {
      hasSpoken = true;
      listener.onToken(text);
    };
    try {
      const turn = await model.ask(conversation, { signal, onToken });
      standings.answered(index);
      onTurn({ ...turn, by: { ...spent(), endpoint: endpointOf(model.subject) } });
      return { kind: 'answered' };
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      const at = clock.now();
      const { fault, message: text } = error;
      listener.onFailedCall?.({ ...spent(), error: text, fault });
      const readyAt = standings.failed(index, error, { at, by: conversation.taskId });
      const failure = { provider, model: name, fault, text, hasSpoken, at, readyAt };
      return { kind: 'failed', failure };
    }
  };
  // A call after a pause starts from a timer, but must keep the async context of its task.
  const bound = AsyncResource.bind(attempt);
  return fromPromise<CallOutcome, { index: number }>(({ input, signal }) =>
    bound(input.index, signal),
  );
}

/**
 * Describes in one sentence why no model of a chain answered: the last failure of each, or the remaining cooldown if
 * none was called. `now` is in epoch milliseconds.
 */
function chainFailure(
  failures: readonly FailedCall[],
  candidates: readonly Candidate[],
  now: number,
): string {
  const texts = new Map(failures.map((failure) => [keyOf(failure), failure.text]));
  if (texts.size === 0) return candidates.map((one) => resting(one, now)).join('; ');
  const said = [...texts.values()].join('; ');
  return texts.size === 1 ? said : `no model answered: ${said}`;
}

function resting(candidate: Candidate, now: number): string {
  const seconds = Math.max(1, Math.ceil((candidate.readyAt - now) / 1_000));
  const rest = formatDuration(seconds * 1_000);
  return `${nameOf(candidate)} failed a moment ago and is retried in ${rest}; try again then`;
}

function keyOf({ provider, model }: ModelName): string {
  return `${provider} ${model}`;
}
