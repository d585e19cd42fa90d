import type { Context, Middleware, Next } from 'koa';
import { Problem } from '../wire/problem.ts';

/** Maximum number of request headers; Node would silently drop further ones. */
const mostHeaders = 100;

/**
 * Rejects requests that two programs on the way could interpret differently: a target other than a path, or more than
 * one `Host`. Also rejects an unsupported `Expect`.
 */
export function refuseAmbiguous(): Middleware {
  return function ambiguityRefuser({ req }: Context, next: Next) {
    const { expect = '100-continue' } = req.headers;
    const names = req.rawHeaders.filter((_, index) => index % 2 === 0);
    if (names.length > mostHeaders) {
      const error = `the request has more than ${mostHeaders} headers; send fewer`;
      throw new Problem('headers_too_large', error, {}, { Connection: 'close' });
    }
    if (!req.url?.startsWith('/')) {
      const error = 'the request target must be a path that begins with /';
      throw new Problem('invalid_http', error, {}, { Connection: 'close' });
    }
    if (names.filter((name) => name.toLowerCase() === 'host').length > 1) {
      throw new Problem('invalid_http', 'send one Host header', {}, { Connection: 'close' });
    }
    if (expect.toLowerCase() !== '100-continue') {
      const error = 'the request expects something else than 100-continue; send no Expect';
      throw new Problem('unsupported_expectation', error, {}, { Connection: 'close' });
    }
    return next();
  };
}
