import { describe, expect, it } from 'vitest';
import { conditionWords } from '../../../../../src/actors/governance/governance.ts';
import {
  completionsAt,
  placeWords,
} from '../../../../../src/ui/dashboard/views/policy/condition-words.ts';

const word = (name: string, type: string) => ({ word: name, type, about: '' });
const names = {
  words: [
    ...conditionWords(['REGION']),
    ...[word('args.amount', 'double'), word('args.order', 'map'), word('args.order.id', 'string')],
  ],
  tools: ['pay', 'refund'],
};

function offered(before: string): [number, string[]] | null {
  const found = completionsAt(before, names);
  return found === null ? null : [found.from, found.words.map((one) => one.word)];
}

describe('the completion of a condition', () => {
  it('offers variables and functions, without their members', () => {
    const [from, words] = offered('true && ar') ?? [];
    expect(from).toBe(8);
    expect(words).toEqual([
      ...['args', 'tool', 'now', 'environment', 'caller', 'task', 'call', 'history', 'path'],
      ...['has(', 'size(', 'int(', 'double(', 'string(', 'timestamp(', 'duration('],
    ]);
  });

  it.each([
    ['args.', 5, ['amount', 'order']],
    ['double(args.am', 12, ['amount', 'order']],
    ['args.order.', 11, ['id']],
    ['environment.', 12, ['REGION']],
    ['history.c', 8, ['count(', 'sum(', 'last(', 'labels']],
    ['history.count("', 15, ['pay', 'refund']],
    ["history.sum('re", 13, ['pay', 'refund']],
  ])('offers after %s the existing members', (before, from, words) => {
    expect(offered(before)).toEqual([from, words]);
  });

  it('offers the methods of a string or a list after a member, and nothing inside a string', () => {
    expect(offered('args.order.id.')?.[1]).toContain('matches(');
    expect(offered('args.order.id == "a')).toBeNull();
    expect(offered('"a\\"b')).toBeNull();
  });
});

it('a fault has its column, and its line where there are several', () => {
  expect(placeWords('args.amout > 5', 5)).toBe('column 6');
  expect(placeWords('true &&\n args.x', 9)).toBe('line 2, column 2');
});
