import { describe, expect, it } from 'vitest';
import type { Exchange, SaidPart, SaidTurn } from '../../../src/machines/domain/task.ts';
import type { Thought } from '../../../src/machines/task/task-events.ts';
import { failedTurnsAtEnd, toldBefore, withTurn } from '../../../src/machines/task/told-turns.ts';
import { aCall, aTaskContext, modelFailed, said } from '../../helpers/task-fixtures.ts';

const by = { provider: 'scripted', model: 'demo' };
const turn = (after: number, parts: SaidPart[] = []): SaidTurn => ({ after, by, parts });
const ended = (id: string, more: Pick<Exchange, 'failed'> = {}): Exchange => ({
  call: aCall({ id }),
  result: id,
  ...more,
});
const failed = (id: string) => ended(id, { failed: true });

describe('the input of a model before its last turn', () => {
  it.each([
    ['nothing, before any turn', [], 0],
    ['nothing, in the first turn', [turn(0)], 0],
    ['the calls that had ended at its last turn', [turn(0), turn(3)], 3],
  ])('is %s', (_, turns, told) => {
    expect(toldBefore({ said: turns })).toBe(told);
  });
});

describe('a turn of a model', () => {
  const calls = [aCall(), aCall({ id: 'call-2' })];
  const text: SaidPart = { kind: 'text', text: 'let me see' };
  const call: SaidPart = { kind: 'call' };
  const parts: SaidPart[] = [call, { kind: 'thought', text: 'hm', metadata: { wire: { a: 'b' } } }];
  const telling: Thought = {
    ...said(''),
    outcome: { kind: 'said', text: 'let me see', calls, parts },
  };

  it.each([
    ['its text before its calls', said('let me see', calls), by, [text, call, call]],
    ['only calls', said('', calls), by, [call, call]],
    ['only text', said('let me see'), by, [text]],
    ['its parts in their order', telling, by, parts],
    ['nothing, when it failed', modelFailed('no quota'), by, []],
    [
      'its provider, including the address',
      { ...said('', calls), endpoint: 'e1' },
      { ...by, endpoint: 'e1' },
      [call, call],
    ],
  ])('is stored with %s', (_, thought, speaker, expected) => {
    const context = aTaskContext({ said: [turn(0, [text])], exchanges: [ended('a'), ended('b')] });
    expect(withTurn(context, thought)).toStrictEqual([
      turn(0, [text]),
      { after: 2, by: speaker, parts: expected },
    ]);
  });

  it('is stored up to the byte limit, and the rest of older turns keeps its place', () => {
    const bound = 1024 * 1024;
    const emptied = turn(0);
    const whole = turn(1, [{ kind: 'text', text: 'é' }]);
    const frame = Buffer.byteLength(JSON.stringify([{ kind: 'thought', text: '' }]));
    const thoughtOf = (size: number): Thought => ({
      ...said(''),
      outcome: {
        kind: 'said',
        text: '',
        calls,
        parts: [{ kind: 'thought', text: 'x'.repeat(size - frame) }],
      },
    });
    const room = bound - Buffer.byteLength(JSON.stringify(whole.parts));
    const kept = (size: number) =>
      withTurn(aTaskContext({ said: [whole] }), thoughtOf(size)).map((one) => one.parts.length);
    expect([kept(room), kept(room + 1)]).toEqual([
      [1, 1],
      [0, 1],
    ]);
    const after = withTurn(aTaskContext({ said: [emptied, whole] }), thoughtOf(room + 1));
    expect(after.slice(0, 2)).toStrictEqual([emptied, turn(1)]);
  });
});

describe('the turns with only errors at the end of a run', () => {
  it.each([
    ['none before any', [], [], 0],
    ['none when the last call returned a value', [failed('a'), ended('b')], [turn(0), turn(1)], 0],
    ['none when one call of the last turn did', [ended('a'), failed('b')], [turn(0)], 0],
    ['one after a turn that returned a value', [ended('a'), failed('b')], [turn(0), turn(1)], 1],
    ['all of them', [failed('a'), failed('b'), failed('c')], [turn(0), turn(2)], 2],
    ['each call as one turn, after an older release', [failed('a'), failed('b')], [], 2],
  ])('are %s', (_, exchanges, turns, count) => {
    expect(failedTurnsAtEnd(aTaskContext({ exchanges, said: turns }))).toBe(count);
  });
});
