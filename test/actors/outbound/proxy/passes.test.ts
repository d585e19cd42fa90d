import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Passes } from '../../../../src/actors/outbound/proxy/passes.ts';

const scope = { taskId: 't1', correlationId: 'c1', tags: {} };

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

describe('Passes', () => {
  it('finds a pass by its user and password, until it is released', () => {
    const passes = new Passes();
    const [first, second] = [passes.admit(scope), passes.admit({ ...scope, taskId: 't2' })];
    const header = basic(second.user, second.password);
    expect(passes.find(header)).toBe(second);
    expect(passes.find(header.replace('Basic', 'bAsIc'))).toBe(second);
    passes.release(first);
    expect(passes.find(header)).toBe(second);
    passes.release(second);
    expect(passes.find(header)).toBe(null);
  });

  it('finds no pass by anything else', () => {
    const passes = new Passes();
    const { user, password } = passes.admit(scope);
    const other = passes.admit(scope);
    const wrong = fc.oneof(
      fc.string(),
      fc.string().map((text) => `Basic ${text}`),
      fc.tuple(fc.string(), fc.string()).map(([one, two]) => basic(one, two)),
      fc.string().map((text) => basic(user, text)),
      fc.nat(password.length - 1).map((length) => basic(user, password.slice(0, length))),
      fc.string({ minLength: 1 }).map((text) => basic(user, password + text)),
      fc.constant(basic(user, other.password)),
    );
    fc.assert(fc.property(wrong, (header) => passes.find(header) === null));
    expect(passes.find(undefined)).toBe(null);
  });
});
