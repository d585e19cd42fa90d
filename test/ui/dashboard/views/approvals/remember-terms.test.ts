import { describe, expect, it } from 'vitest';
import {
  briefly,
  faultOf,
  proposedTerms,
  type RememberTerms,
  rememberPart,
  termsWords,
} from '../../../../../src/ui/dashboard/views/approvals/remember-terms.ts';

const limits = { for: '8h0m0s', uses: 20 };
const terms: RememberTerms = {
  scope: 'caller',
  for: ' 2h ',
  uses: 3,
  when: ' args.amount <= 20.0 ',
};

describe('an approval that releases later calls', () => {
  it('is suggested for an hour and five calls, or for less where the rule allows less', () => {
    expect(proposedTerms(limits)).toEqual({ scope: 'caller', for: '1h', uses: 5, when: '' });
    expect(proposedTerms({ for: '30m0s', uses: 2 })).toEqual({
      ...{ scope: 'caller', for: '30m', uses: 2, when: '' },
    });
  });

  it('describes what it releases before it is given', () => {
    expect([
      termsWords(terms, 'pay'),
      termsWords({ scope: 'task', for: '1h', uses: 1, when: '' }, 'pay'),
    ]).toEqual([
      'Releases up to 3 more calls of pay by this requester with args.amount <= 20.0 within 2h, without a question.',
      'Releases one more call of pay in this session with equal arguments within 1h, without a question.',
    ]);
  });

  it.each<[Partial<RememberTerms>, string | null]>([
    [{}, null],
    [{ uses: null }, 'Enter 1 to 20 calls.'],
    [{ uses: 21 }, 'Enter 1 to 20 calls.'],
    [{ uses: 1.5 }, 'Enter 1 to 20 calls.'],
    [{ for: '9h' }, 'Enter a time up to 8h, such as 30m.'],
    [{ for: 'ever' }, 'Enter a time up to 8h, such as 30m.'],
    [{ for: '0s' }, 'Enter a time up to 8h, such as 30m.'],
  ])('with %j has the fault %j', (change, fault) => {
    const typed = { ...terms, ...change };
    expect(faultOf(typed, limits)).toBe(fault);
    expect(rememberPart(typed, limits) === null).toBe(fault !== null);
  });

  it('is sent as typed, and not where the rule remembers none', () => {
    expect([
      rememberPart(terms, limits),
      rememberPart({ ...terms, when: '' }, limits),
      rememberPart(terms, undefined),
      rememberPart(null, limits),
    ]).toEqual([
      { remember: { scope: 'caller', for: '2h', uses: 3, when: 'args.amount <= 20.0' } },
      { remember: { scope: 'caller', for: '2h', uses: 3 } },
      {},
      {},
    ]);
  });

  it.each([
    ['8h0m0s', '8h'],
    ['1h30m0s', '1h30m'],
    ['20m0s', '20m'],
    ['10s', '10s'],
  ])('writes %s as %s', (time, words) => {
    expect(briefly(time)).toBe(words);
  });
});
