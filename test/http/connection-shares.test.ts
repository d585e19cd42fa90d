import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressGroup } from '../../src/http/client-address.ts';
import { ConnectionShares } from '../../src/http/connection-shares.ts';

function sharesOf(most: number, proxies: string[] = []) {
  const isProxy = (address: string) => proxies.includes(address);
  return new ConnectionShares({ most, groupOf: addressGroup, isProxy });
}

/** How many connections an address gets when it wants so many. */
function taken(shares: ConnectionShares, address: string, wanted: number): number {
  return Array.from({ length: wanted }, () => shares.take(address)).filter(Boolean).length;
}

describe('an address', () => {
  it.each([
    [20_000, 5_000],
    [889, 222],
    [128, 32],
    [60, 32],
    [10, 8],
  ])('of %d connections has %d', (most, share) => {
    expect(taken(sharesOf(most), '192.0.2.1', most + 10)).toBe(share);
  });

  it('is counted as its whole /64', () => {
    const shares = sharesOf(400);
    expect(taken(shares, '2001:db8:1:2::1', 60)).toBe(60);
    expect(taken(shares, '2001:db8:1:2:ffff::1', 60)).toBe(40);
    expect(taken(shares, '2001:db8:1:3::1', 60)).toBe(60);
    expect(taken(shares, '192.0.2.1', 60)).toBe(60);
    expect(taken(shares, '::ffff:192.0.2.1', 60)).toBe(40);
  });

  it('of a trusted proxy may use all connections except those reserved for this machine', () => {
    expect(taken(sharesOf(889, ['192.0.2.1']), '192.0.2.1', 1_000)).toBe(873);
  });
});

it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])(
  '16 connections are reserved for this machine as %s',
  (loopback) => {
    const shares = sharesOf(200);
    for (let host = 1; host < 9; host += 1) taken(shares, `192.0.2.${host}`, 50);
    expect(taken(shares, '192.0.2.99', 1)).toBe(0);
    expect(taken(shares, loopback, 50)).toBe(16);
  },
);

it('the count is right for any connects and disconnects', () => {
  const step = fc.record({ host: fc.integer({ min: 1, max: 9 }), leaves: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const shares = sharesOf(100);
      const open: { host: number; leave: () => void }[] = [];
      for (const { host, leaves } of steps) {
        if (leaves) open.splice(host % Math.max(1, open.length), 1)[0]?.leave();
        else {
          const mine = open.filter((one) => one.host === host).length;
          const leave = shares.take(`192.0.2.${host}`);
          expect(leave !== null).toBe(mine < 32 && open.length < 84);
          if (leave !== null) open.push({ host, leave });
        }
      }
      for (const { leave } of open) leave();
      expect(taken(shares, '127.0.0.1', 200)).toBe(32);
    }),
  );
});
