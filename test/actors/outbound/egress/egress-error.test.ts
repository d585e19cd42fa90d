import { describe, expect, it } from 'vitest';
import {
  EgressError,
  EgressLimitError,
  egressCause,
} from '../../../../src/actors/outbound/egress/egress.ts';

/** An error behind as many others. */
function behind(cause: Error, others: number): Error {
  let error = cause;
  for (let left = others; left > 0; left -= 1) error = new Error('terminated', { cause: error });
  return error;
}

const blocked = new EgressError({ host: 'a.test', why: 'is no host', mode: 'allowlist' });
const stopped = new EgressLimitError('a.test', 'sent nothing for 10 ms');

describe("the egress error in the causes of a client's error", () => {
  it.each([blocked, stopped])('is found behind four others, and not behind five: %s', (error) => {
    const found = [0, 1, 4, 5].map((others) => egressCause(behind(error, others)));
    expect(found).toEqual([error, error, error, null]);
  });

  it('is none in a circle of causes', () => {
    const error = new Error('terminated');
    error.cause = new Error('closed', { cause: error });
    expect(egressCause(error)).toBeNull();
  });

  it.each([null, undefined, 'is no host', { cause: blocked }])('is none in %o', (thrown) => {
    expect(egressCause(thrown)).toBeNull();
  });
});
