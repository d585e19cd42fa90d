import { expect, it } from 'vitest';
import { SpokenTurns } from '../../../src/actors/tasks/spoken-turn.ts';

it('a spoken turn publishes each piece, and lasts until its end', () => {
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

it('a turn that began before the end of the previous one is kept', () => {
  const turns = new SpokenTurns(() => undefined);
  const former = turns.start('t-1');
  turns.start('t-1').say('new');
  former.end();
  expect(turns.of('t-1')).toEqual({ pieces: ['new'] });
});
