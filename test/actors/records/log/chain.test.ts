import { describe, expect, it } from 'vitest';
import {
  Chain,
  type ChainBreak,
  type ChainStart,
} from '../../../../src/actors/records/log/chain.ts';
import { GENESIS } from '../../../../src/actors/records/log/chain-format.ts';
import type { JsonObject, JsonValue } from '../../../../src/machines/json.ts';

const whole: ChainStart = { from: GENESIS, kept: null };
const continued: ChainStart = { from: 'h0', kept: null };

const event = (previous: JsonValue): JsonObject => ({ event: 'x', prev_hash: previous });
const checkpoint = (previous: string, fields: JsonValue): JsonObject => ({
  event: 'checkpoint',
  prev_hash: previous,
  fields,
});

/** Reads lines whose hashes are `h1`, `h2` and so on; `null` is a line that holds no object. */
function read(start: ChainStart, ...lines: (JsonObject | null)[]) {
  const chain = new Chain(start);
  const found: { line: number; break: ChainBreak }[] = [];
  for (const [index, line] of lines.entries()) {
    const breaks = [line === null ? null : chain.check(line), chain.advance(line, `h${index + 1}`)];
    for (const one of breaks) if (one !== null) found.push({ line: index + 1, break: one });
  }
  return { chain, found };
}

describe('the chain of a log', () => {
  it('is empty at the beginning', () => {
    const { events, head, checkpoint: last } = new Chain(whole);
    expect({ events, head, last }).toStrictEqual({ events: 0, head: GENESIS, last: null });
  });

  it('advances with each line, broken or not', () => {
    const { chain, found } = read(whole, event(GENESIS), null, event('h2'));
    expect(found).toStrictEqual([]);
    expect([chain.events, chain.head, chain.checkpoint]).toStrictEqual([3, 'h3', null]);
  });

  it.each<[string, JsonValue, ChainBreak]>([
    ['that is missing', null, { reason: 'prev_hash is missing' }],
    ['that is not a string', 1, { reason: 'prev_hash is missing' }],
    [
      'to another line',
      'h7',
      { reason: 'prev_hash does not match the previous line', expected: 'h1', actual: 'h7' },
    ],
  ])('breaks at a link %s', (_, link, found) => {
    expect(read(whole, event(GENESIS), event(link)).found).toStrictEqual([
      { line: 2, break: found },
    ]);
  });

  it.each<[ChainStart, ChainBreak['reason']]>([
    [whole, 'prev_hash is not that of the first line of a log'],
    [continued, 'prev_hash is not the hash the log should continue from'],
  ])('breaks at its first line when it does not continue %j', (start, reason) => {
    expect(read(start, event('h7'), event('h1')).found).toStrictEqual([
      { line: 1, break: { reason, expected: start.from, actual: 'h7' } },
    ]);
  });
});

describe('a checkpoint in a log', () => {
  it('states the head and the number of lines since', () => {
    const standing = checkpoint('h1', { count: 1, head: 'h1' });
    const { chain, found } = read(whole, event(GENESIS), standing, event('h2'), null);
    expect(found).toStrictEqual([]);
    expect(chain.checkpoint).toStrictEqual({ count: 1, after: 2 });
  });

  it('counts the lines of the whole log where the first ones were removed', () => {
    const first = checkpoint('h0', { count: 40, head: 'h0' });
    const second = checkpoint('h2', { count: 42, head: 'h2' });
    const { chain, found } = read(continued, first, event('h1'), second);
    expect(found).toStrictEqual([]);
    expect(chain.checkpoint).toStrictEqual({ count: 42, after: 0 });
  });

  it.each<[string, JsonValue, string]>([
    ['another count', { count: 2, head: 'h1' }, 'count 2 and head "h1"'],
    ['another hash', { count: 1, head: 'h9' }, 'count 1 and head "h9"'],
    ['a count that is not a number', { count: '1', head: 'h1' }, 'count "1" and head "h1"'],
    ['no hash', { count: 1 }, 'count 1 and head undefined'],
    ['a list of fields', [1, 'h1'], 'count undefined and head undefined'],
    ['no fields', null, 'count undefined and head undefined'],
  ])('is a break with %s', (_, fields, actual) => {
    expect(read(whole, event(GENESIS), checkpoint('h1', fields)).found).toStrictEqual([
      {
        line: 2,
        break: {
          reason: 'the checkpoint does not match the lines before it',
          expected: 'count 1 and head h1',
          actual,
        },
      },
    ]);
  });

  it.each<[string, JsonValue, string]>([
    ['fewer lines than were read', 1, 'count 2 and head h2'],
    ['a negative number', -1, 'count 2 and head h2'],
    ['a fractional number', 2.5, 'count 2 and head h2'],
    ['more lines than can be counted', 2 ** 53, 'count 2 and head h2'],
  ])('is a break in a log with a removed beginning when it counts %s', (_, count, expected) => {
    const standing = checkpoint('h2', { count, head: 'h2' });
    expect(read(continued, event('h0'), event('h1'), standing).found).toStrictEqual([
      {
        line: 3,
        break: {
          reason: 'the checkpoint does not match the lines before it',
          expected,
          actual: `count ${JSON.stringify(count)} and head "h2"`,
        },
      },
    ]);
  });

  it('is accepted after a break, so that one break is reported once', () => {
    const wrong = checkpoint('h1', { count: 5, head: 'h1' });
    const next = checkpoint('h2', { count: 6, head: 'h2' });
    const { chain, found } = read(whole, event(GENESIS), wrong, next);
    expect(found.map(({ line }) => line)).toEqual([2]);
    expect(chain.checkpoint).toStrictEqual({ count: 6, after: 0 });
  });

  it.each(['many', -1, 1.5])('is refused when it counts %j lines', (count) => {
    const none = checkpoint('h1', { count, head: 'h1' });
    expect(read(whole, event(GENESIS), none).chain.checkpoint).toBeNull();
    const next = checkpoint('h2', { count: 2, head: 'h2' });
    const { chain, found } = read(whole, event(GENESIS), none, next);
    expect(found.map(({ line }) => line)).toEqual([2]);
    expect(chain.checkpoint).toStrictEqual({ count: 2, after: 0 });
  });

  it('may count zero lines', () => {
    const { chain, found } = read(whole, checkpoint(GENESIS, { count: 0, head: GENESIS }));
    expect(found).toStrictEqual([]);
    expect(chain.checkpoint).toStrictEqual({ count: 0, after: 0 });
  });
});

describe('a checkpoint that was stored elsewhere', () => {
  const departed = (expected: string, actual: string): ChainBreak => ({
    reason: 'the lines up to here do not match the kept checkpoint',
    expected,
    actual,
  });

  it('matches at its line only', () => {
    const kept = { count: 2, head: 'h2' };
    const { chain, found } = read({ ...whole, kept }, event(GENESIS), event('h1'), event('h2'));
    expect(found).toStrictEqual([]);
    expect(chain.end()).toBeNull();
  });

  it('differs at its line, reported once', () => {
    const kept = { count: 2, head: 'k2' };
    const { chain, found } = read({ ...whole, kept }, event(GENESIS), event('h1'), event('h2'));
    expect(found).toStrictEqual([{ line: 2, break: departed('k2', 'h2') }]);
    expect(chain.end()).toBeNull();
  });

  it('is missing at the end of a log that was cut before it', () => {
    const kept = { count: 3, head: 'h3' };
    const { chain } = read({ ...whole, kept }, event(GENESIS), event('h1'));
    expect(chain.end()).toStrictEqual({
      reason: 'the log ends before the kept checkpoint',
      expected: '3 lines and head h3',
      actual: '2 lines',
    });
  });

  it('is missing at the end of a log whose first lines are removed as well', () => {
    const kept = { count: 99, head: 'k99' };
    const told = checkpoint('h0', { count: 40, head: 'h0' });
    const { chain } = read({ ...continued, kept }, told, event('h1'));
    expect(chain.end()).toMatchObject({ actual: '42 lines' });
  });

  it('is found by its hash until a checkpoint counts the removed lines', () => {
    const kept = { count: 41, head: 'h1' };
    const { chain, found } = read({ ...continued, kept }, event('h0'), event('h1'));
    expect(found).toStrictEqual([]);
    expect(chain.end()).toBeNull();
  });

  it('is found by its number after a checkpoint has counted them', () => {
    const kept = { count: 42, head: 'k2' };
    const told = checkpoint('h0', { count: 40, head: 'h0' });
    const { chain, found } = read({ ...continued, kept }, told, event('h1'), event('h2'));
    expect(found).toStrictEqual([{ line: 2, break: departed('k2', 'h2') }]);
    expect(chain.end()).toBeNull();
  });

  it('is not found where the removed lines are not counted', () => {
    const kept = { count: 41, head: 'k1' };
    const { chain, found } = read({ ...continued, kept }, event('h0'), event('h1'));
    expect(found).toStrictEqual([]);
    expect(chain.end()).toStrictEqual({
      reason: 'the log ends before the kept checkpoint',
      expected: '41 lines and head k1',
      actual: '2 lines',
    });
  });
});
