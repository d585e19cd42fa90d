import { expect, it } from 'vitest';
import { leftOf, valuesOfKey } from '../../../src/machines/governance/limit-standing.ts';

it('what is left of a limit is exact, and negative after calls above it', () => {
  expect(leftOf({ max: '0.3', used: '0.1', reserved: '0.1' })).toBe('0.1');
  expect(leftOf({ max: '5000', used: '5200.01', reserved: '0' })).toBe('-200.01');
});

it('the values of a key are read for people', () => {
  const key = JSON.stringify({
    caller: ['oidc', 'u-1'],
    org: null,
    session: ['sha256', 'ab'],
    tool: 'pay',
  });
  const others = { org: '(none)', session: 'sha256:ab', tool: 'pay' };
  const ann = { provider: 'oidc', userId: 'u-1', email: 'ann@example.com' };
  expect(valuesOfKey(key, null)).toEqual({ caller: 'u-1', ...others });
  expect(valuesOfKey(key, ann)).toEqual({ caller: 'ann@example.com', ...others });
  // The same name at another provider is another caller.
  expect(valuesOfKey(key, { ...ann, provider: 'chat' })).toEqual({ caller: 'u-1', ...others });
  expect(valuesOfKey('{"caller":null}', ann)).toEqual({ caller: '(none)' });
  // A value of the same text is another one.
  const same = '{"caller":["oidc","(none)"],"args.team":"(none)"}';
  expect(valuesOfKey(same, null)).toEqual({ caller: '"(none)"', 'args.team': '"(none)"' });
  const operator = '{"caller":["runtime","runtime"]}';
  expect(valuesOfKey(operator, null)).toEqual({ caller: 'the operator of this machine' });
});
