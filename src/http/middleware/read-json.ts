import type { Context, Middleware, Next } from 'koa';
import { Problem } from '../wire/problem.ts';

/** Longest body, in bytes (contract section 5). */
const longestBody = 2 * 1024 * 1024;

/** Deepest nesting of a body (contract section 5). */
const deepest = 64;

/** Most keys of all objects of a body together. */
const mostKeys = 100_000;

/**
 * Reads a JSON body into `ctx.request.body`; a request without a body has `undefined` there.
 * Anything else is a Problem: 415 for another type, 413 for a body that is too long, 400 for one
 * that is malformed, nested too deeply or has too many keys, in the words of `malformed` where the route has its own.
 */
export function readJson({
  malformed,
  types = ['application/json'],
}: {
  malformed?: string;
  types?: string[];
} = {}): Middleware {
  let parser: Promise<Middleware> | null = null;
  return async function jsonReader(ctx: Context, next: Next) {
    if (isEmpty(ctx)) return void (await next());
    if (ctx.is(types) === false) {
      throw new Problem(415, { error: 'send the body as application/json' });
    }
    parser ??= createParser(types, malformed);
    const parse = await parser;
    await parse(ctx, () => {
      const fault = faultOf(ctx.request.body);
      if (fault !== null) throw new Problem(400, { error: malformed ?? fault });
      return next();
    });
  };
}

/** The library is loaded with the first body, since it takes longer to load than the rest of the surface. */
async function createParser(jsonTypes: string[], malformed?: string): Promise<Middleware> {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  return koaBody({
    text: false,
    urlencoded: false,
    multipart: false,
    jsonStrict: false,
    jsonTypes,
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

function faultOf(body: unknown): string | null {
  const room = { keys: mostKeys };
  if (isDeeperThan(body, deepest, room)) return `the JSON is nested deeper than ${deepest} levels`;
  return room.keys < 0 ? `the JSON has more than ${mostKeys} keys` : null;
}

/** Counts the keys it passes off `room`. */
function isDeeperThan(value: unknown, levels: number, room: { keys: number }): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (items !== value) room.keys -= items.length;
  for (const item of items) if (isDeeperThan(item, levels - 1, room)) return true;
  return false;
}
