import { describe, expect, it } from 'vitest';
import {
  closedBy,
  lastWord,
  marking,
  withMark,
  word,
} from '../../../src/machines/channels/outbox.ts';
import type { Utterance } from '../../../src/machines/channels/turn.ts';
import { aSaying } from '../../helpers/chat-thread.ts';

const one = aSaying({ id: 'm-1' });
const other = aSaying({ id: 'm-2' });
const elsewhere = aSaying({ id: 'm-1', adapter: 'slack' });
const done = marking(one, 'done');

describe('the outbox of a thread', () => {
  it('contains a mark, a post or a final post', () => {
    expect([done, word(one, 'Waiting.'), lastWord(one, 'Done.')]).toEqual([
      { to: one, kind: 'mark', mark: 'done' },
      { to: one, kind: 'say', markdown: 'Waiting.', isLast: false },
      { to: one, kind: 'say', markdown: 'Done.', isLast: true },
    ]);
  });

  it.each<[string, Utterance[], Utterance[]]>([
    ['comes last', [], [done]],
    [
      'does not replace the one in progress',
      [marking(one, 'working')],
      [marking(one, 'working'), done],
    ],
    [
      'replaces those that were not posted yet',
      [word(one, 'a'), marking(one, 'working'), word(one, 'b'), marking(one, 'waiting')],
      [word(one, 'a'), word(one, 'b'), done],
    ],
    [
      'does not replace those of other messages',
      [word(one, 'a'), marking(other, 'working'), marking(elsewhere, 'working')],
      [word(one, 'a'), marking(other, 'working'), marking(elsewhere, 'working'), done],
    ],
  ])('a further mark %s', (_name, outbox, marked) => {
    expect(withMark(outbox, done)).toEqual(marked);
  });

  it('closes a message with only its final post', () => {
    expect([done, word(one, 'Waiting.'), lastWord(one, 'Done.')].map(closedBy)).toEqual([
      null,
      null,
      one,
    ]);
  });
});
