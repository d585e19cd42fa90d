import { generateDeterministicEmbedding, LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AlignmentQuestion,
  createCachingEmbedder,
  createEmbedder,
  createIntentScorer,
  type Embedder,
  EmbedderError,
} from '../../../../src/actors/governance/alignment/alignment.ts';
import { alignmentSchema } from '../../../../src/actors/governance/settings/schema-alignment.ts';
import { createLog } from '../../../../src/actors/telemetry/log.ts';
import type { Part } from '../../../../src/machines/domain/task.ts';
import { cosine } from '../../../../src/machines/governance/intent-alignment.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { startServer } from './embedding-server.ts';

const never = new AbortController().signal;
const usual = { threshold: 0.5, hardThreshold: 0.3 };
const secret = 'sk-live-0123456789';

function aQuestion(overrides: Partial<AlignmentQuestion> = {}, parts?: Part[]): AlignmentQuestion {
  return {
    request: {
      role: 'user',
      parts: parts ?? [{ kind: 'text', text: 'Refund order 7' }],
      messageId: 'm-1',
    },
    tool: 'issue_refund',
    toolDescription: 'Refunds an order.',
    args: { order: 7 },
    signal: never,
    ...overrides,
  };
}

/** A scorer over an embedder, with the lines it writes to its log. */
function scorerOver(embedder: Embedder, thresholds = usual) {
  const lines: object[] = [];
  const stream = {
    write: (text: string) => {
      const { time: _time, ...line } = JSON.parse(text) as { time: string };
      lines.push(line);
    },
  };
  const log = createLog({ level: 'info', stream });
  return { scoreCall: createIntentScorer({ embedder, thresholds, log }), lines };
}

/** An embedder under whose vectors the first two texts have the given cosine. */
function scoring(score: number) {
  const asked: string[][] = [];
  const embedder: Embedder = {
    embed: async (texts) => {
      asked.push([...texts]);
      return [
        [1, 0],
        [score, Math.sqrt(1 - score * score)],
      ];
    },
  };
  return { embedder, asked };
}

function failing(error: unknown): Embedder {
  return { embed: () => Promise.reject(error) };
}

describe('the scorer of intent alignment', () => {
  it.each([
    [0.8, usual, 'allow', 'score 0.80 meets the threshold 0.50'],
    [0.4, usual, 'warn', 'score 0.40 is below the threshold 0.50'],
    [0.2, usual, 'deny', 'score 0.20 is below the hard threshold 0.30'],
    [0, { threshold: 0, hardThreshold: 0 }, 'allow', 'score 0.00 meets the threshold 0.00'],
    [-1, { threshold: 0.5, hardThreshold: -1 }, 'warn', 'score -1.00 is below the threshold 0.50'],
  ])('answers a score of %d under %j with %s', async (score, thresholds, decision, reason) => {
    const { scoreCall, lines } = scorerOver(scoring(score).embedder, thresholds);
    expect(await scoreCall(aQuestion())).toEqual({
      decision,
      score: expect.closeTo(score, 12),
      reason,
    });
    expect(lines).toEqual([]);
  });

  it('compares the request with the description and arguments over the OpenAI wire', async () => {
    const mock = await LLMock.create({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => mock.stop());
    const settings = alignmentSchema.parse({ base_url: `${mock.url}/v1` });
    const ports = { env: { OPENAI_API_KEY: secret }, clock: new ManualClock(0) };
    const embedder = createCachingEmbedder(createEmbedder(settings, ports), { max: 10 });
    const { scoreCall } = scorerOver(embedder, { threshold: -1, hardThreshold: -1 });
    const score = cosine(
      generateDeterministicEmbedding('Refund order 7'),
      generateDeterministicEmbedding('issue_refund: Refunds an order. {"order":7}'),
    );
    const reason = `score ${score?.toFixed(2)} meets the threshold -1.00`;
    const verdict = { decision: 'allow', score, reason };
    expect(await scoreCall(aQuestion())).toEqual(verdict);
    expect(await scoreCall(aQuestion())).toEqual(verdict);
    expect(mock.getRequests().length).toBe(1);
  });

  it('denies when the embedder refuses, in one line without key or texts', async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `wrong key ${secret}: Refund order 7` } }));
    });
    const settings = alignmentSchema.parse({ base_url: `${server.address}/v1` });
    const ports = { env: { OPENAI_API_KEY: secret }, clock: new ManualClock(0) };
    const { scoreCall, lines } = scorerOver(createEmbedder(settings, ports));
    expect(await scoreCall(aQuestion())).toEqual({
      decision: 'deny',
      score: null,
      reason: 'embedder unavailable',
    });
    expect(lines).toEqual([
      {
        level: 'error',
        tool: 'issue_refund',
        code: 'refused',
        problem: 'the embedder answered with status 401',
        msg: 'intent alignment: the embedder is unavailable',
      },
    ]);
  });

  it('denies when the embedder times out', async () => {
    const clock = new ManualClock(0);
    const server = await startServer(() => clock.advance(5_000));
    const settings = alignmentSchema.parse({
      provider: 'ollama',
      base_url: `${server.address}/v1`,
    });
    const embedder = createCachingEmbedder(createEmbedder(settings, { env: {}, clock }), {
      max: 9,
    });
    const { scoreCall, lines } = scorerOver(embedder);
    expect(await scoreCall(aQuestion())).toEqual({
      decision: 'deny',
      score: null,
      reason: 'embedder unavailable',
    });
    expect(lines).toMatchObject([{ code: 'timed_out' }]);
  });

  it.each([
    [
      'an error of its own',
      failing(new EmbedderError('unreachable', 'gone')),
      'unreachable',
      'gone',
    ],
    [
      'any other error',
      failing(new TypeError(secret)),
      'unexpected',
      'the embedder failed with TypeError',
    ],
    ['no error at all', failing(undefined), 'unexpected', 'the embedder failed with undefined'],
    [
      'an exception',
      {
        embed: () => {
          throw new RangeError(secret);
        },
      },
      'unexpected',
      'the embedder failed with RangeError',
    ],
    ['no vectors', { embed: async () => [] }, 'bad_answer', 'the vectors cannot be compared'],
    ['one vector', { embed: async () => [[1]] }, 'bad_answer', 'the vectors cannot be compared'],
    [
      'different lengths',
      { embed: async () => [[1], [1, 1]] },
      'bad_answer',
      'the vectors cannot be compared',
    ],
    [
      'a NaN',
      { embed: async () => [[Number.NaN], [1]] },
      'bad_answer',
      'the vectors cannot be compared',
    ],
  ] satisfies [string, Embedder, string, string][])(
    'denies after %s, also when no score would',
    async (_, embedder, code, problem) => {
      const { scoreCall, lines } = scorerOver(embedder, { threshold: -1, hardThreshold: -1 });
      expect(await scoreCall(aQuestion())).toEqual({
        decision: 'deny',
        score: null,
        reason: 'embedder unavailable',
      });
      const msg = 'intent alignment: the embedder is unavailable';
      expect(lines).toEqual([{ level: 'error', tool: 'issue_refund', code, problem, msg }]);
    },
  );

  it('sends no request for an ended call', async () => {
    const scorer = scoring(1);
    const reason = new Error('canceled');
    const question = aQuestion({ signal: AbortSignal.abort(reason) });
    await expect(scorerOver(scorer.embedder).scoreCall(question)).rejects.toBe(reason);
    expect(scorer.asked).toEqual([]);
  });

  it('rejects with the reason of the signal and writes nothing', async () => {
    const stop = new AbortController();
    const reason = new Error('canceled');
    const { scoreCall, lines } = scorerOver({
      embed: async () => {
        stop.abort(reason);
        throw new Error('aborted');
      },
    });
    await expect(scoreCall(aQuestion({ signal: stop.signal }))).rejects.toBe(reason);
    await expect(scoreCall(aQuestion({ signal: stop.signal }))).rejects.toBe(reason);
    expect(lines).toEqual([]);
  });
});

describe('the compared text', () => {
  const asked = async (question: AlignmentQuestion): Promise<string[]> => {
    const scorer = scoring(1);
    await scorerOver(scorer.embedder).scoreCall(question);
    return scorer.asked[0] ?? [];
  };
  const call = 'issue_refund: Refunds an order. {"order":7}';

  it('is the text of all text parts, without data and files', async () => {
    const parts: Part[] = [
      { kind: 'text', text: ' Refund\t' },
      { kind: 'data', data: { order: 9 } },
      { kind: 'file', file: { name: 'receipt.pdf', bytes: '' } },
      { kind: 'text', text: 'order 7\n' },
    ];
    expect(await asked(aQuestion({}, parts))).toEqual(['Refund order 7', call]);
  });

  it('separates the words of two parts', async () => {
    const parts: Part[] = ['Refund', 'order 7'].map((text) => ({ kind: 'text', text }));
    expect(await asked(aQuestion({}, parts))).toEqual(['Refund order 7', call]);
  });

  it.each<[string, Part[]]>([
    ['no part', []],
    ['blank text', [{ kind: 'text', text: ' \n\t' }]],
    ['invisible text', [{ kind: 'text', text: '\u200b\u{e0041}\ufe0f\u0000' }]],
    ['data alone', [{ kind: 'data', data: { refund: 7 } }]],
    ['only a file', [{ kind: 'file', file: { uri: 'https://example.com/receipt' } }]],
  ])('is empty for a message with %s, which is denied', async (_, parts) => {
    const scorer = scoring(1);
    const { scoreCall, lines } = scorerOver(scorer.embedder, { threshold: -1, hardThreshold: -1 });
    expect(await scoreCall(aQuestion({}, parts))).toEqual({
      decision: 'deny',
      score: null,
      reason: 'the first message has no text to compare with',
    });
    expect([scorer.asked, lines]).toEqual([[], []]);
  });

  it('has one form of each character, is well-formed and has no invisible characters', async () => {
    const text = 'Re\u200bfu\u{e0041}nd \u202eorder\u0000\u0007 \uff17 \ud800!';
    const [request] = await asked(aQuestion({}, [{ kind: 'text', text }]));
    expect(request).toBe('Refund order 7 \ufffd!');
  });

  it('is cut to 8,192 characters', async () => {
    const long = '\ufdfa😀'.repeat(9_000);
    const texts = await asked(aQuestion({ args: { note: long } }, [{ kind: 'text', text: long }]));
    expect(texts.map((text) => [...text].length)).toEqual([8_192, 8_192]);
    expect(texts.map((text) => text.isWellFormed())).toEqual([true, true]);
  });

  it('contains the arguments after a long description and invisible padding', async () => {
    const args = { pad: '\u200b'.repeat(20_000), order: 7 };
    const toolDescription = 'x'.repeat(20_000);
    const [, text] = await asked(aQuestion({ toolDescription, args }));
    expect(text).toBe(`issue_refund: ${'x'.repeat(4_096)} {"pad":"","order":7}`);
  });
});
