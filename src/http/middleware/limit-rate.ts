import type { Context, Middleware, Next } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../actors/ports/clock.ts';
import type { RateLimits } from '../../actors/ports/rate-limits.ts';
import { addressGroup, clientAddress } from '../client-address.ts';
import { isMcpPoll } from '../mcp/mcp-path.ts';
import type { RequestState } from '../request-state.ts';
import { type Refill, TokenBucket } from '../token-bucket.ts';
import { Problem } from '../wire/problem.ts';
import { isCancel } from './is-cancel.ts';
import { isRead } from './is-read.ts';

/** Maximum number of remembered addresses. The least recently seen one is evicted first. */
const mostAddresses = 10_000;

/** Health checks are exempt, so traffic from the same address cannot make them fail. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Minimum burst of over-limit cancels that may reach authentication. */
const leastCancels = 100;

interface Buckets {
  read: TokenBucket;
  write: TokenBucket;
  /** Bucket for over-limit cancels that are passed to authentication. */
  cancel: TokenBucket;
}

/**
 * Rejects callers above the rate limit with 429, counts reads and writes separately, and sets
 * `ctx.state.clientAddress`. Health probes are not counted. An over-limit cancel passes if it authenticates
 * (docs/contract/authentication.md), otherwise it is rejected. Remembers the latest 10,000 addresses. Throws TypeError
 * for an invalid trusted proxy.
 */
export function limitRate({
  limits,
  clock,
  onLimited = () => undefined,
}: {
  limits: RateLimits;
  clock: Pick<Clock, 'now'>;
  /** Called for each rejected request, for the metrics. */
  onLimited?: () => void;
}): Middleware<RequestState> {
  const addressOf = clientAddress(limits.trustedProxies);
  const bucketsOf = bucketKeeper(limits);
  const refuse: Refuse = (wait) => {
    onLimited();
    return tooMany(wait);
  };
  return async function rateLimiter(ctx: Context, next: Next) {
    const address = addressOf(ctx.req);
    ctx.state.clientAddress = address;
    const reads = isRead(ctx.method) || isMcpPoll(ctx);
    if (reads && probes.has(ctx.path)) return void (await next());
    const now = clock.now();
    const buckets = bucketsOf(addressGroup(address), now);
    const wait = (reads ? buckets.read : buckets.write).take(now);
    if (wait === 0) return void (await next());
    if (!limits.cancelExempt || !(await isCancel(ctx))) throw refuse(wait);
    await passIfLetIn(ctx, next, { wait, bucket: buckets.cancel, now, refuse });
  };
}

/** Creates the refusal of a request whose address must wait for so many seconds, and counts it. */
type Refuse = (wait: number) => Problem;

/** A cancel above the rate limit. */
interface Excess {
  wait: number;
  bucket: TokenBucket;
  now: number;
  refuse: Refuse;
}

/**
 * Passes a cancel to authentication. A failed authentication consumes a token of the bucket, because it costs a request
 * to the provider and a log line. A successful one consumes none.
 */
async function passIfLetIn(
  ctx: Context,
  next: Next,
  { wait, bucket, now, refuse }: Excess,
): Promise<void> {
  if (bucket.take(now) > 0) throw refuse(wait);
  try {
    await next();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) throw refuse(wait);
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

function tooMany(wait: number): Problem {
  const seconds = Math.max(1, Math.ceil(wait));
  const error = `too many requests; try again in ${seconds} s`;
  return new Problem('rate_limited', error, {}, { 'Retry-After': String(seconds) });
}
