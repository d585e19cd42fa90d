import { expect, it } from 'vitest';
import { SpokenTurns } from '../../../src/actors/tasks/spoken-turn.ts';

it('publishes each piece of a turn, and has the turn until it ends', () => {
  const published: string[][] = [];
  const turns = new SpokenTurns((id, text) => published.push([id, text]));
  expect(turns.of('t-1')).toBeUndefined();
  const speaker = turns.start('t-1');
  speaker.say('a');
  speaker.say('b');
  expect(turns.of('t-1')).toEqual({ pieces: ['a', 'b'] });
  speaker.end();
  expect(turns.of('t-1')).toBeUndefined();
  expect(published).toEqual([
    ['t-1', 'a'],
    ['t-1', 'b'],
  ]);
});

it('keeps a turn that began before the end of the previous one', () => {
  const turns = new SpokenTurns(() => undefined);
  const former = turns.start('t-1');
  turns.start('t-1').say('new');
  former.end();
  expect(turns.of('t-1')).toEqual({ pieces: ['new'] });
});
