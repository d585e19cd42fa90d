import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeardTurns } from '../../../src/http/a2a/task-follower.ts';
import { lastChunkOf } from '../../../src/http/a2a/task-updates.ts';

const answering = (text: string) => ({ answer: [{ kind: 'text' as const, text }] });
const parts = (text: string) => [{ kind: 'text', text }];

describe('the last chunk of an answer', () => {
  it.each([
    [
      'the whole answer where no chunk was sent',
      '',
      'paid',
      { parts: parts('paid'), append: false },
    ],
    ['the rest of the answer', 'pa', 'paid', { parts: parts('id'), append: true }],
    ['empty where all was sent', 'paid', 'paid', { parts: parts(''), append: true }],
    ['the whole answer where it differs', 'I pay', 'paid', { parts: parts('paid'), append: false }],
    [
      'the whole answer where more was sent',
      'paid!',
      'paid',
      { parts: parts('paid'), append: false },
    ],
  ])('is %s', (_, said, answer, chunk) => {
    expect(lastChunkOf(answering(answer), said)).toEqual({ ...chunk, lastChunk: true });
  });

  it('is the whole answer when it begins without text', () => {
    const answer = [{ kind: 'data' as const, data: { paid: 5 } }];
    const chunk = { parts: answer, append: false, lastChunk: true };
    expect(lastChunkOf({ answer }, 'paid')).toEqual(chunk);
  });
});

describe('the chunks of a turn', () => {
  it('are sent piece by piece, and a further turn starts again', () => {
    const heard = new HeardTurns();
    const turn = { pieces: ['a', 'b'] };
    expect(heard.next(turn)).toEqual({ text: 'ab', isFirst: true });
    expect(heard.next(turn)).toBeNull();
    turn.pieces.push('c', 'd');
    expect(heard.next(turn)).toEqual({ text: 'cd', isFirst: false });
    expect(heard.next({ pieces: ['e'] })).toEqual({ text: 'e', isFirst: true });
  });

  it('form the answer with the last chunk, for any split', () => {
    const unit = fc.constantFrom('a', ' ', '😀', '\ud83d', '\ude00', 'é');
    const cut = fc.array(fc.tuple(fc.string({ unit, maxLength: 3 }), fc.boolean()));
    fc.assert(
      fc.property(cut, (said) => {
        const heard = new HeardTurns();
        const turn = { pieces: [] as string[] };
        let shown = '';
        for (const [piece, isLookedAt] of said) {
          turn.pieces.push(piece);
          const told = isLookedAt ? heard.next(turn) : null;
          if (told === null) continue;
          expect(told.text.isWellFormed()).toBe(true);
          expect(told.isFirst).toBe(shown === '');
          shown += told.text;
        }
        const answer = turn.pieces.join('').toWellFormed();
        expect(answer.startsWith(shown)).toBe(true);
        const { parts: rest, append } = lastChunkOf(answering(answer), shown);
        const last = rest.map((part) => (part.kind === 'text' ? part.text : '')).join('');
        expect(append ? shown + last : last).toBe(answer);
      }),
    );
  });
});
