import { AsyncResource } from 'node:async_hooks';
import { createActor, fromPromise, toPromise } from 'xstate';
import { fallbackMachine } from '../../../machines/models/fallback-machine.ts';
import type { CallOutcome } from '../../../machines/models/model-call.ts';
import type { Clock } from '../../ports/clock.ts';
import {
  type Conversation,
  type LanguageModel,
  ModelError,
  type ModelListener,
  type Turn,
} from '../../ports/model.ts';
import { chainFailure } from './chain-failure.ts';
import { ModelFailure } from './model-failure.ts';
import { endpointOf } from './model-subject.ts';
import type { ProviderModel } from './provider-model.ts';
import { Standings } from './standings.ts';

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
