import type { Context, Middleware, Next } from 'koa';
import { Problem } from '../wire/problem.ts';

/** Longest body, in bytes (contract section 5). */
const longestBody = 2 * 1024 * 1024;

/** Deepest nesting of a body (contract section 5). */
const deepest = 64;

/**
 * Reads a JSON body into `ctx.request.body`; a request without a body has `undefined` there.
 * Anything else is a Problem: 415 for another type, 413 for a body that is too long, 400 for one
 * that is malformed or nested too deeply, in the words of `malformed` where the route has its own.
 */
export function readJson({ malformed }: { malformed?: string } = {}): Middleware {
  let parser: Promise<Middleware> | null = null;
  return async function jsonReader(ctx: Context, next: Next) {
    if (isEmpty(ctx)) return void (await next());
    if (ctx.is('application/json') === false) {
      throw new Problem(415, { error: 'send the body as application/json' });
    }
    parser ??= createParser(malformed);
    const parse = await parser;
    await parse(ctx, () => {
      if (isDeeperThan(ctx.request.body, deepest)) {
        const error = malformed ?? `the JSON is nested deeper than ${deepest} levels`;
        throw new Problem(400, { error });
      }
      return next();
    });
  };
}

/** The library is loaded with the first body, since it takes longer to load than the rest of the surface. */
async function createParser(malformed?: string): Promise<Middleware> {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  return koaBody({
    text: false,
    urlencoded: false,
    multipart: false,
    jsonStrict: false,
    jsonLimit: longestBody,
    parsedMethods: [HttpMethodEnum.POST],
    onError: (error) => {
      throw bodyProblem(error, malformed);
    },
  });
}

function isEmpty(ctx: Context): boolean {
  return ctx.get('Transfer-Encoding') === '' && (ctx.request.length ?? 0) === 0;
}

function bodyProblem(
  error: Error & { status?: number },
  malformed = 'the body is not valid JSON',
): Problem {
  if (error.status === 413) {
    const text = `the body is longer than ${longestBody} bytes`;
    return new Problem(413, { error: text }, { Connection: 'close' });
  }
  if (error.status === 415) return new Problem(415, { error: 'the content encoding is unknown' });
  return new Problem(400, { error: malformed });
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const item of Object.values(value)) if (isDeeperThan(item, levels - 1)) return true;
  return false;
}
