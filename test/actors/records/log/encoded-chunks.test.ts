import { describe, expect, it } from 'vitest';
import { encodedChunks } from '../../../../src/actors/records/log/encoded-chunks.ts';

async function encoded(...chunks: (string | number[])[]): Promise<string[]> {
  async function* given() {
    for (const chunk of chunks) yield typeof chunk === 'string' ? chunk : Uint8Array.from(chunk);
  }
  const made = await Array.fromAsync(encodedChunks(given()));
  return made.map((bytes) => Buffer.from(bytes).toString('hex'));
}

const hex = (text: string) => Buffer.from(text).toString('hex');

describe('encodedChunks', () => {
  it('passes bytes unchanged', async () => {
    expect(await encoded([0xff, 0], [], [0x0a])).toEqual(['ff00', '', '0a']);
  });

  it('encodes text as UTF-8, chunk by chunk', async () => {
    expect(await encoded('zu spät', '', 'a🧾b')).toEqual([hex('zu spät'), '', hex('a🧾b')]);
  });

  it('joins a pair of surrogates that is spread over chunks', async () => {
    expect(await encoded('a\ud83e', '\uddfeb')).toEqual([hex('a'), hex('🧾b')]);
    expect(await encoded('\udbff', '', '\udfff')).toEqual(['', '', hex('\udbff\udfff')]);
  });

  it('emits at once after the second half of a pair', async () => {
    expect(await encoded('🧾', 'x')).toEqual([hex('🧾'), hex('x')]);
  });

  it('replaces a half without its partner', async () => {
    expect(await encoded('a\ud83e')).toEqual([hex('a'), hex('\ufffd')]);
    expect(await encoded('a\ud83e', 'b')).toEqual([hex('a'), hex('\ufffdb')]);
  });
});
