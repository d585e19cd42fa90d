import type { Context, Middleware, Next } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Clock, RateLimits } from '../../actors/ports.ts';
import type { RequestState } from '../request-state.ts';
import { type Refill, TokenBucket } from '../token-bucket.ts';
import { Problem } from '../wire/problem.ts';
import { addressGroup, clientAddress } from './client-address.ts';
import { isCancel } from './is-cancel.ts';
import { isRead } from './is-read.ts';

/** Most addresses that are remembered; the one that has been away longest goes first. */
const mostAddresses = 10_000;

/** Longest rest of a refused body that is read for the sake of the connection, in bytes. */
const longestRest = 64 * 1024;

/** Health checks are exempt, so that traffic from the same address cannot fail them. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Least number of cancels over the limit that may ask to be let in at once. */
const leastCancels = 100;

interface Buckets {
  read: TokenBucket;
  write: TokenBucket;
  /** Cancels over the limit on their way to authentication. */
  cancel: TokenBucket;
}

/**
 * Refuses callers over the rate limit with 429, counts reads and writes apart, and puts the caller's address into
 * `ctx.state.clientAddress`. Health probes are not counted. A cancel over the limit passes if it authenticates
 * (docs/contract/authentication.md), and is refused like any other if not. The limiter remembers the latest 10,000
 * addresses. Throws TypeError for an invalid trusted proxy.
 */
export function limitRate({
  limits,
  clock,
}: {
  limits: RateLimits;
  clock: Pick<Clock, 'now'>;
}): Middleware<RequestState> {
  const addressOf = clientAddress(limits.trustedProxies);
  const bucketsOf = bucketKeeper(limits);
  return async function rateLimiter(ctx: Context, next: Next) {
    const address = addressOf(ctx.req);
    ctx.state.clientAddress = address;
    const reads = isRead(ctx.method);
    if (reads && probes.has(ctx.path)) return void (await next());
    const now = clock.now();
    const buckets = bucketsOf(addressGroup(address), now);
    const wait = (reads ? buckets.read : buckets.write).take(now);
    if (wait === 0) return void (await next());
    if (!limits.cancelExempt || !(await isCancel(ctx))) throw tooMany(ctx, wait);
    await passIfLetIn(ctx, next, { wait, bucket: buckets.cancel, now });
  };
}

/**
 * Passes a cancel on to authentication. As many may fail it as their bucket has tokens, since each failure costs a
 * question to a provider and a line in the log; a success costs none.
 */
async function passIfLetIn(
  ctx: Context,
  next: Next,
  { wait, bucket, now }: { wait: number; bucket: TokenBucket; now: number },
): Promise<void> {
  if (bucket.take(now) > 0) throw tooMany(ctx, wait);
  try {
    await next();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) throw tooMany(ctx, wait);
    bucket.giveBack();
    throw error;
  }
  bucket.giveBack();
}

function bucketKeeper({ readRps, readBurst, writeRps, writeBurst }: RateLimits) {
  const known = new LRUCache<string, Buckets>({ max: mostAddresses });
  const read: Refill = { rate: readRps, burst: readBurst };
  const write: Refill = { rate: writeRps, burst: writeBurst };
  const cancel: Refill = { rate: writeRps, burst: Math.max(writeBurst, leastCancels) };
  return (address: string, now: number): Buckets => {
    const found = known.get(address);
    if (found !== undefined) return found;
    const buckets = {
      read: new TokenBucket(read, now),
      write: new TokenBucket(write, now),
      cancel: new TokenBucket(cancel, now),
    };
    known.set(address, buckets);
    return buckets;
  };
}

function tooMany(ctx: Context, wait: number): Problem {
  const seconds = Math.max(1, Math.ceil(wait));
  const isEndless = ctx.get('Transfer-Encoding') !== '' || (ctx.request.length ?? 0) > longestRest;
  return new Problem(
    429,
    { error: `too many requests; try again in ${seconds} s` },
    { 'Retry-After': String(seconds), ...(isEndless ? { Connection: 'close' } : {}) },
  );
}
