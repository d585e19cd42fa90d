import { describe, expect, it, vi } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { argsDigest } from '../../../../src/actors/governance/policy/args-digest.ts';
import { type LanguageModel, ModelError } from '../../../../src/actors/ports/model.ts';
import { createThink } from '../../../../src/actors/tasks/effects/think.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { patient } from '../../../helpers/patient.ts';
import { aTaskInput } from '../../../helpers/task-fixtures.ts';

function think(next: LanguageModel['next']) {
  const { actor, ...heard } = begin(next);
  return toPromise(actor).then((thought) => ({ thought, ...heard }));
}

function begin(next: LanguageModel['next']) {
  let made = 0;
  const tokens: string[] = [];
  const logged: string[] = [];
  const noteLine = (_fields: object, line: string) => void logged.push(line);
  const logic = createThink({
    model: { provider: 'test', name: 'model-1', next },
    ids: { next: () => `id-${(made += 1)}` },
    clock: new ManualClock(7_000),
    tools: new Map(),
    admit: async (_taskId, calls) => [...calls],
    log: { info: noteLine, warn: noteLine, error: noteLine },
    speak: (taskId) => ({
      say: (text) => void tokens.push(`${taskId} ${text}`),
      end: () => void tokens.push(`${taskId} is over`),
    }),
  });
  const { history, request } = aTaskInput();
  const run = {
    exchanges: [],
    said: [],
    followUps: [],
    ran: [],
    turns: 0,
    told: 0,
    tokensPerEstimate: 1,
  };
  const named = { taskId: 't-1', correlationId: 'c-1' };
  const input = { ...named, history, request, ...run };
  return { actor: createActor(logic, { input }).start(), tokens, logged };
}

const common = { provider: 'test', model: 'model-1', at: 7_000, duration: expect.any(Number) };

describe('a model turn', () => {
  it('gives every call an id and a digest, and streams tokens', async () => {
    const calls = [
      { tool: 'pay', args: { b: 1, a: 2 } },
      { tool: 'pay', args: { a: 2, b: 1 } },
    ];
    const { thought, tokens } = await think((_conversation, { onToken }) => {
      onToken('let me ');
      onToken('pay');
      return Promise.resolve({ text: 'let me pay', calls, inputTokens: 3, outputTokens: 4 });
    });
    const argsSha256 = argsDigest('pay', { a: 2, b: 1 });
    expect(thought).toEqual({
      ...common,
      inputTokens: 3,
      outputTokens: 4,
      outcome: {
        kind: 'said',
        text: 'let me pay',
        calls: [
          { id: 'id-1', tool: 'pay', args: { b: 1, a: 2 }, argsSha256 },
          { id: 'id-2', tool: 'pay', args: { a: 2, b: 1 }, argsSha256 },
        ],
      },
    });
    expect(tokens).toEqual(['t-1 let me ', 't-1 pay', 't-1 is over']);
  });

  it.each(['answers', 'fails'])(
    'reports messages that the model does not receive because they %s',
    async (how) => {
      const compaction = { results: 1, messages: 0, turns: 2, tokensBefore: 9, tokensAfter: 4 };
      const { thought } = await think((_conversation, { onCompacted }) => {
        onCompacted?.(compaction);
        if (how === 'fails') return Promise.reject(new ModelError('it is busy'));
        return Promise.resolve({ text: 'done', calls: [], inputTokens: 1, outputTokens: 2 });
      });
      expect(thought.compaction).toEqual(compaction);
    },
  );

  it('names the model that answered, and reports failed attempts', async () => {
    const by = { provider: 'other', model: 'model-2', duration: 9 };
    const failed = { provider: 'test', model: 'model-1', duration: 4, error: 'it is busy' };
    const { thought } = await think((_conversation, { onFailedCall }) => {
      onFailedCall?.(failed);
      return Promise.resolve({ text: 'done', calls: [], inputTokens: 1, outputTokens: 2, by });
    });
    expect(thought).toMatchObject({ ...by, failedCalls: [failed] });
  });

  it('reports the last failed attempt for a turn without an answer', async () => {
    const failed = { provider: 'test', model: 'model-1', duration: 4, error: 'it is busy' };
    const last = { provider: 'other', model: 'model-2', duration: 5, error: 'it is wrong' };
    const { thought } = await think((_conversation, { onFailedCall }) => {
      onFailedCall?.(failed);
      onFailedCall?.(last);
      return Promise.reject(new ModelError('no model answered'));
    });
    expect(thought).toEqual({
      provider: 'other',
      model: 'model-2',
      duration: 5,
      at: 7_000,
      inputTokens: 0,
      outputTokens: 0,
      failedCalls: [failed],
      outcome: { kind: 'failed', error: 'no model answered' },
    });
  });

  it('reports nothing of a canceled turn', async () => {
    let reported = Promise.resolve();
    const { actor, logged } = begin(async (_conversation, { signal }) => {
      const left = new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      reported = left.then(() => undefined).catch(() => undefined);
      await left;
      throw new Error('not called off');
    });
    await vi.waitUntil(() => actor.getSnapshot().status === 'active', patient);
    actor.stop();
    await reported;
    await new Promise((later) => setImmediate(later));
    expect(logged).toEqual([]);
  });

  it.each<[string, unknown, string, string[]]>([
    [
      'fails with a message for the caller',
      new ModelError('the model is overloaded; try again later'),
      'the model is overloaded; try again later',
      [],
    ],
    [
      'has a defect',
      new TypeError("Cannot read properties of undefined (reading 'secret')"),
      'the model failed inside the service',
      ['model: failed unexpectedly'],
    ],
    [
      'rejects with another value',
      'nonsense',
      'the model failed inside the service',
      ['model: failed unexpectedly'],
    ],
  ])('reports a model that %s', async (_name, reason, error, lines) => {
    const { thought, logged } = await think(() => Promise.reject(reason as Error));
    expect(logged).toEqual(lines);
    expect(thought).toEqual({
      ...common,
      inputTokens: 0,
      outputTokens: 0,
      outcome: { kind: 'failed', error },
    });
  });
});
