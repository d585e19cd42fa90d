import type { Context, Middleware, Next } from 'koa';
import type { MeasuredRequest } from '../metrics/measurement.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';

/** Measures every request until its response is complete, including rejected ones. */
export function measureRequests({
  hear,
  begin,
}: Pick<Metrics, 'hear' | 'begin'>): Middleware<RequestState> {
  return function requestMeasurer(ctx: Context, next: Next) {
    const began = performance.now();
    const end = begin();
    ctx.res.once('close', () => {
      end();
      const milliseconds = performance.now() - began;
      const { statusCode: status } = ctx.res;
      hear({ type: 'request', route: routeOf(ctx), status, outcome: outcomeOf(ctx), milliseconds });
    });
    return next();
  };
}

function routeOf(ctx: Context): string {
  const { _matchedRoute: matched } = ctx as unknown as RoutedContext;
  const { route } = ctx.state as RequestState;
  if (route !== undefined) return route;
  return typeof matched === 'string' ? matched.replaceAll(/:(\w+)/g, '{$1}') : 'other';
}

function outcomeOf({ res, state }: Context): MeasuredRequest['outcome'] {
  const { cutOff, hasFailed } = state as RequestState;
  if (res.statusCode >= 500 || cutOff !== undefined) return 'failed';
  return res.statusCode >= 400 || hasFailed === true ? 'refused' : 'ok';
}
