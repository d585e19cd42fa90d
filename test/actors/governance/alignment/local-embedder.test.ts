import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEmbedder } from '../../../../src/actors/governance/alignment/alignment.ts';
import { alignmentSchema } from '../../../../src/actors/governance/settings/schema-alignment.ts';
import { cosine } from '../../../../src/machines/governance/intent-alignment.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';

const never = new AbortController().signal;
const settings = alignmentSchema.parse({ provider: 'local' });
const embedder = createEmbedder(settings, { env: {}, clock: new ManualClock(0) });

async function scoreOf(one: string, other: string): Promise<number> {
  const [left = [], right = []] = await embedder.embed([one, other], never);
  return cosine(left, right) ?? Number.NaN;
}

describe('the local embedder', () => {
  const call = 'issue_refund: Refunds an order. {"order":7,"amount":20}';

  it('scores a requested call above an unrelated one', async () => {
    const asked = await scoreOf('Please refund order 7', call);
    const strange = await scoreOf('What is the weather in Lisbon today?', call);
    expect(asked).toBeGreaterThan(0.3);
    expect(strange).toBeLessThan(0.3);
  });

  it('returns the same vector each time, in any case', async () => {
    const [one, other] = await embedder.embed(['Refund ORDER 7', 'refund order 7'], never);
    expect(one).toEqual(other);
    expect(await embedder.embed(['refund order 7'], never)).toEqual([other]);
  });

  it.each<[string, [index: number, weight: number][]]>([
    [
      'a',
      [
        [207, 1],
        [300, 3],
      ],
    ],
    [
      'foobar',
      [
        [19, 1],
        [205, 1],
        [274, 1],
        [360, 3],
        [378, 1],
        [387, 1],
        [494, 1],
      ],
    ],
    [
      'aaaa',
      [
        [72, 1],
        [124, 1],
        [155, 2],
        [441, 3],
      ],
    ],
    [
      'ab\tAB',
      [
        [309, 2],
        [387, 2],
        [458, 6],
      ],
    ],
    [
      'ab7--',
      [
        [68, 1],
        [73, 1],
        [96, 1],
        [309, 1],
        [387, 1],
        [458, 3],
        [502, 3],
      ],
    ],
    ['', []],
  ])('counts the words and pieces of %j at their FNV-1a positions', async (text, weights) => {
    const [vector = []] = await embedder.embed([text], never);
    expect([...vector.entries()].filter(([, weight]) => weight !== 0)).toEqual(weights);
  });

  it('reads a full-width letter as the normal one', async () => {
    expect(await embedder.embed(['ａｂ'], never)).toEqual(await embedder.embed(['ab'], never));
  });

  it('reads the digits of a number as one word', async () => {
    const [whole, apart] = await embedder.embed(['order 12', 'order 1 2'], never);
    expect(whole).not.toEqual(apart);
    expect(whole).toEqual((await embedder.embed(['order12'], never))[0]);
  });

  it('needs neither a key nor a request', async () => {
    const asked: unknown[] = [];
    const fetch = (input: unknown) => {
      asked.push(input);
      return Promise.reject(new Error('nobody is asked'));
    };
    const alone = createEmbedder(settings, { env: {}, clock: new ManualClock(0), fetch });
    expect(await alone.embed(['a', 'b'], never)).toEqual(await embedder.embed(['a', 'b'], never));
    expect(asked).toEqual([]);
  });

  it('rejects for an aborted caller', async () => {
    const reason = new Error('canceled');
    await expect(embedder.embed(['a'], AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('returns a comparable vector of one length for every text that is not blank', async () => {
    const visible = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => /\S/.test(text));
    await fc.assert(
      fc.asyncProperty(visible, async (text) => {
        const [vector = []] = await embedder.embed([text], never);
        expect(vector.length).toBe(512);
        expect(cosine(vector, vector)).toBeCloseTo(1, 12);
      }),
    );
  });
});
