import { expect, it, onTestFinished, vi } from 'vitest';
import { createAddressRules } from '../../../../src/actors/outbound/egress/address-rules.ts';
import { checkedAddresses } from '../../../../src/actors/outbound/egress/checked-addresses.ts';
import { EgressLimitError } from '../../../../src/actors/outbound/egress/egress-error.ts';

const checkAddress = createAddressRules({ allowPrivateIps: false, allowedPrivateCidrs: [] });

/** How addresses are checked where nothing is opened and nothing can be resolved. */
const check = {
  checkAddress,
  mayBePrivate: () => false,
  closedAt: () => null,
  lookup: () => Promise.reject(new Error('nothing is to be resolved')),
  deadline: 1_000,
};

it.each([
  ['127.0.0.1', 'is a loopback address'],
  ['::1', 'is a loopback address'],
  ['10.0.0.1', 'is a private address'],
  ['169.254.169.254', 'is a metadata address'],
])('the address %s, which %s, is refused without a look-up', async (host, why) => {
  expect(await checkedAddresses({ host, port: 80 }, check)).toEqual({ ok: false, why });
});

it('a permitted address resolves to itself', async () => {
  expect(await checkedAddresses({ host: '93.184.216.34', port: 80 }, check)).toEqual({
    ok: true,
    addresses: [{ address: '93.184.216.34', family: 4 }],
  });
  const mayBePrivate = (host: string, port: number) => host === '::1' && port === 80;
  expect(await checkedAddresses({ host: '::1', port: 80 }, { ...check, mayBePrivate })).toEqual({
    ok: true,
    addresses: [{ address: '::1', family: 6 }],
  });
});

it("the agent's own address is refused before any other check", async () => {
  const itself = {
    ...check,
    closedAt: (address: string, port: number) =>
      address === '0.0.0.0' && port === 8080 ? 'is the agent itself' : null,
  };
  const lookup = async () => [{ address: '0.0.0.0', family: 4 }];
  const why = 'is the agent itself';
  expect(await checkedAddresses({ host: '0.0.0.0', port: 8080 }, itself)).toEqual({
    ok: false,
    why,
  });
  expect(await checkedAddresses({ host: 'a.test', port: 8080 }, { ...itself, lookup })).toEqual({
    ok: false,
    why,
  });
  expect(await checkedAddresses({ host: '0.0.0.0', port: 80 }, itself)).toEqual({
    ok: false,
    why: 'is an unspecified address',
  });
});

it.each<[string, () => Promise<{ address: string; family: number }[]>]>([
  ['was found', async () => [{ address: '93.184.216.34', family: 4 }]],
  ['was refused', async () => [{ address: '10.0.0.1', family: 4 }]],
  ['could not be found', () => Promise.reject(new Error('not found'))],
])('no timer is left for a name that %s', async (_, lookup) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const looking = checkedAddresses({ host: 'a.test', port: 80 }, { ...check, lookup });
  expect(vi.getTimerCount()).toBe(1);
  await Promise.allSettled([looking]);
  expect(vi.getTimerCount()).toBe(0);
});

it('a name look-up times out at its limit, not earlier', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let failure: unknown = null;
  const lookup = () => new Promise<never>(() => undefined);
  const looking = checkedAddresses({ host: 'a.test', port: 80 }, { ...check, lookup }).catch(
    (error: unknown) => {
      failure = error;
    },
  );
  await vi.advanceTimersByTimeAsync(999);
  expect(failure).toBeNull();
  await vi.advanceTimersByTimeAsync(1);
  await looking;
  expect(failure).toEqual(new EgressLimitError('a.test', 'could not be resolved in 1000 ms'));
});
