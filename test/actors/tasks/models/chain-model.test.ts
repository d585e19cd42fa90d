import { describe, expect, it } from 'vitest';
import type { ModelListener, Turn } from '../../../../src/actors/ports/model.ts';
import { createChainModel } from '../../../../src/actors/tasks/models/chain-model.ts';
import { ModelFailure } from '../../../../src/actors/tasks/models/model-failure.ts';
import type { ProviderModel } from '../../../../src/actors/tasks/models/provider-model.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { conversationOf } from '../../../helpers/model-conversation.ts';

const answer: Turn = { text: 'done', calls: [], inputTokens: 1, outputTokens: 2 };

type Answer = Turn | Error | 'never' | ['words', Error];

/** A model that ends its turns as told, one after the other. */
function modelEnding(provider: 'openai' | 'google', answers: Answer[]) {
  const seen: AbortSignal[] = [];
  const model: ProviderModel = {
    subject: { provider, model: 'm', address: 'https://a.example', keyVariable: null },
    async ask(_, { signal, onToken }) {
      seen.push(signal);
      const given = answers.shift();
      if (given === 'never') {
        return new Promise((__, abandon) =>
          signal.addEventListener('abort', () => abandon(signal.reason)),
        );
      }
      if (Array.isArray(given)) {
        onToken(given[0]);
        throw given[1];
      }
      if (given instanceof Error) throw given;
      return given ?? answer;
    },
  };
  return { model, seen };
}

function take(model: ReturnType<typeof createChainModel>, listener: Partial<ModelListener> = {}) {
  const failed: string[] = [];
  const turn = model.next(conversationOf('go'), {
    signal: new AbortController().signal,
    onToken: () => undefined,
    onFailedCall: ({ provider, error }) => failed.push(`${provider}: ${error}`),
    ...listener,
  });
  return { turn, failed };
}

const busy = (retryAfter: number | null = null) =>
  new ModelFailure('busy', 'it is busy', retryAfter);

/** Lets ready promises continue. */
const settle = () => new Promise((done) => setImmediate(done));

describe('a chain of models', () => {
  it('names the model that answered, and the failed attempts', async () => {
    const first = modelEnding('openai', [busy()]);
    const second = modelEnding('google', []);
    const chain = createChainModel([first.model, second.model], new ManualClock(0));
    const { turn, failed } = take(chain);
    const endpoint = expect.stringMatching(/^[0-9a-f]{16}$/);
    const by = { provider: 'google', model: 'm', duration: expect.any(Number), endpoint };
    expect([await turn, failed]).toEqual([{ ...answer, by }, ['openai: it is busy']]);
  });

  it('skips a busy model in later turns, for as long as it requested', async () => {
    const clock = new ManualClock(0);
    const first = modelEnding('openai', [busy(30_000)]);
    const second = modelEnding('google', []);
    const chain = createChainModel([first.model, second.model], clock);
    await take(chain).turn;
    clock.advance(29_999);
    expect((await take(chain).turn).by?.provider).toBe('google');
    clock.advance(1);
    expect((await take(chain).turn).by?.provider).toBe('openai');
    expect(first.seen).toHaveLength(2);
  });

  it('retries a sole model once it is ready, and answers normally', async () => {
    const clock = new ManualClock(0);
    const { model, seen } = modelEnding('openai', [busy(), busy(3_000)]);
    const { turn } = take(createChainModel([model], clock));
    await settle();
    clock.advance(1_000);
    await settle();
    clock.advance(2_999);
    await settle();
    expect(seen).toHaveLength(2);
    clock.advance(1);
    expect((await turn).text).toBe('done');
  });

  it('fails at once while its only model requested a longer pause than a turn waits', async () => {
    const clock = new ManualClock(0);
    const chain = createChainModel([modelEnding('openai', [busy(60_000)]).model], clock);
    await expect(take(chain).turn).rejects.toThrow('it is busy');
    clock.advance(8_000);
    await expect(take(chain).turn).rejects.toThrow(
      'openai m failed a moment ago and is retried in 52s; try again then',
    );
  });

  it('tries one turn at a time on its only model after a failure of one conversation', async () => {
    const clock = new ManualClock(0);
    const broken = () => new ModelFailure('broken', 'it failed');
    const { model, seen } = modelEnding('openai', [broken(), 'never', answer]);
    const chain = createChainModel([model], clock);
    const bad = take(chain);
    await settle();
    const other = new AbortController();
    const probing = chain.next(conversationOf('go'), {
      signal: other.signal,
      onToken: () => undefined,
    });
    const ended = expect(probing).rejects.toThrow('called off');
    const third = take(chain);
    await settle();
    expect(seen).toHaveLength(2);
    other.abort(new Error('called off'));
    await ended;
    expect((await take(chain).turn).text).toBe('done');
    clock.advance(1_000);
    expect([(await bad.turn).text, (await third.turn).text]).toEqual(['done', 'done']);
  });

  it('counts one conversation once, however often its turns fail', async () => {
    const clock = new ManualClock(0);
    const broken = () => new ModelFailure('broken', 'it failed');
    const { model } = modelEnding('openai', [broken(), broken(), broken()]);
    const second = modelEnding('google', [broken(), broken(), broken()]);
    const chain = createChainModel([model, second.model], clock);
    const failing = take(chain);
    const ended = expect(failing.turn).rejects.toThrow('it failed');
    for (const pause of [0, 1_000, 2_000]) {
      clock.advance(pause);
      await settle();
      await settle();
    }
    await ended;
    clock.advance(1_000);
    expect((await take(chain).turn).by?.provider).toBe('openai');
  });

  it('names the fault of each model when none answers', async () => {
    const refused = new ModelFailure('refused', 'the key is wrong');
    const chain = createChainModel(
      [modelEnding('openai', [busy(60_000)]).model, modelEnding('google', [refused]).model],
      new ManualClock(0),
    );
    await expect(take(chain).turn).rejects.toThrow(
      'no model answered: it is busy; the key is wrong',
    );
  });

  it('asks no other model after words were shown, because they cannot be taken back', async () => {
    const broken = new ModelFailure('broken', 'it broke off');
    const second = modelEnding('google', []);
    const chain = createChainModel(
      [modelEnding('openai', [['words', broken]]).model, second.model],
      new ManualClock(0),
    );
    await expect(take(chain).turn).rejects.toThrow('it broke off');
    expect(second.seen).toEqual([]);
  });

  it.each([
    ['asks', 'never', true],
    ['waits', busy(), false],
  ] as [string, Answer, boolean][])(
    'rejects with the reason when it is canceled while it %s',
    async (_, ending, isAborted) => {
      const clock = new ManualClock(0);
      const { model, seen } = modelEnding('openai', [ending]);
      const leaving = new AbortController();
      const turn = createChainModel([model], clock).next(conversationOf('go'), {
        signal: leaving.signal,
        onToken: () => undefined,
      });
      const ended = expect(turn).rejects.toThrow('called off');
      await settle();
      leaving.abort(new Error('called off'));
      await ended;
      expect(seen.map(({ aborted }) => aborted)).toEqual([isAborted]);
      expect(clock.pending).toBe(0);
    },
  );

  it('rethrows a defect', async () => {
    const chain = createChainModel(
      [modelEnding('openai', [new TypeError('oops')]).model],
      new ManualClock(0),
    );
    await expect(take(chain).turn).rejects.toThrow(TypeError);
  });
});
