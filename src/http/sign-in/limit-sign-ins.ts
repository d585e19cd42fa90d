import type { Context, Middleware, Next } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../actors/ports/clock.ts';
import { addressGroup } from '../client-address.ts';
import type { RequestState } from '../request-state.ts';
import { TokenBucket } from '../token-bucket.ts';
import { Problem } from '../wire/problem.ts';

/** One address may start or end 20 sign-ins at once, then one every three seconds. */
const refill = { rate: 1 / 3, burst: 20 };

const mostAddresses = 10_000;

/** Refuses sign-ins of one address above a rate with 429, in addition to the limits of all requests. */
export function limitSignIns({ clock }: { clock: Pick<Clock, 'now'> }): Middleware<RequestState> {
  const known = new LRUCache<string, TokenBucket>({ max: mostAddresses });
  return function signInLimiter(ctx: Context, next: Next) {
    const address = addressGroup((ctx.state as RequestState).clientAddress);
    const now = clock.now();
    const bucket = known.get(address) ?? new TokenBucket(refill, now);
    known.set(address, bucket);
    const wait = Math.ceil(bucket.take(now));
    if (wait === 0) return next();
    const error = `too many sign-ins; try again in ${wait} s`;
    throw new Problem('rate_limited', error, {}, { 'Retry-After': String(wait) });
  };
}
