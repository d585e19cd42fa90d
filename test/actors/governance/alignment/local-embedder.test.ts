import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignmentSchema } from '../../../../src/actors/config/schema-alignment.ts';
import { createEmbedder } from '../../../../src/actors/governance/alignment/alignment.ts';
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

  it('scores a call that was asked for above one that was not', async () => {
    const asked = await scoreOf('Please refund order 7', call);
    const strange = await scoreOf('What is the weather in Lisbon today?', call);
    expect(asked).toBeGreaterThan(0.3);
    expect(strange).toBeLessThan(0.3);
  });

  it('says the same each time, whatever the case', async () => {
    const [one, other] = await embedder.embed(['Refund ORDER 7', 'refund order 7'], never);
    expect(one).toEqual(other);
    expect(await embedder.embed(['refund order 7'], never)).toEqual([other]);
  });

  it('gives every text that is not blank a vector of one length that can be compared', async () => {
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
