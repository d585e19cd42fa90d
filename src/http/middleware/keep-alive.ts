import type { Context, Middleware, Next } from 'koa';
import type { Clock } from '../../actors/ports/clock.ts';
import { Heartbeats } from '../heartbeats.ts';
import type { KeepAlive, RequestState } from '../request-state.ts';

/**
 * Milliseconds between the comments of a stream. Some clients disconnect after five seconds without a byte
 * (docs/contract/transports.md).
 */
const commentsEvery = 4_000;

/** Settings for keeping responses open. */
export interface KeepAlivePorts {
  clock: Clock;
  /** Milliseconds between the blanks of a held send (docs/contract/transports.md); 0 for none. */
  holdHeartbeat: number;
}

/** Adds `ctx.state.keepAlive`, the heartbeats of streams and held sends. */
export function keepAlive({ clock, holdHeartbeat }: KeepAlivePorts): Middleware<RequestState> {
  const comments = new Heartbeats(clock, commentsEvery);
  const blanks = holdHeartbeat === 0 ? null : new Heartbeats(clock, holdHeartbeat);
  const beats: KeepAlive = { comments, blanks };
  return function aliveKeeper({ state }: Context, next: Next) {
    state.keepAlive = beats;
    return next();
  };
}
