import { parse } from '@hapi/bourne';
import type { Context, Middleware, Next } from 'koa';
import { hasRepeatedKey, inexactSentence, repeatedKey } from '../../machines/exact-json.ts';
import type { JsonValue } from '../../machines/json.ts';
import type { RequestState } from '../request-state.ts';
import { jsonFault, measureBody } from '../wire/json-fault.ts';
import { Problem } from '../wire/problem.ts';

/** Longest body, in bytes (docs/contract/transports.md). */
const longestBody = 2 * 1024 * 1024;

/**
 * Reads a JSON body into `ctx.request.body`; a request without a body has `undefined` there.
 * Anything else is a Problem: 415 for another type, 503 while too many long ones are under way, 413 for a body that is too long, 400 for one
 * that is malformed, nested too deeply or has too many keys, in the words of `malformed` where the route has its own.
 */
export function readJson({
  malformed,
  types = ['application/json'],
  prototypes = 'error',
  longest = longestBody,
}: {
  malformed?: string;
  /** What becomes of a key `__proto__`: the body is refused, or the key is dropped. */
  prototypes?: 'error' | 'remove';
  types?: string[];
  /** Longest body, in bytes; that of docs/contract/transports.md by default. */
  longest?: number;
} = {}): Middleware {
  let reader: Promise<Middleware> | null = null;
  return async function jsonReader(ctx: Context, next: Next) {
    if (isEmpty(ctx)) return void (await next());
    if (ctx.is(types) === false) {
      throw new Problem(415, { error: 'send the body as application/json' });
    }
    const { traffic } = ctx.state as RequestState;
    if (!traffic.receive(ctx.res, expectedLength(ctx))) throw tooMuch();
    reader ??= createReader(types, longest, malformed);
    const read = await reader;
    await read(ctx, () => {
      const { body } = ctx.request as { body?: unknown };
      // Of a request other than a POST or a PUT nothing has been read; a body of unknown length may be empty.
      if (typeof body === 'string' && body !== '')
        ctx.request.body = parsed(body, prototypes, malformed);
      return next();
    });
  };
}

/** The library is loaded with the first body, since it takes longer to load than the rest of the surface. */
async function createReader(
  textTypes: string[],
  longest: number,
  malformed?: string,
): Promise<Middleware> {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  return koaBody({
    // As text: what nests a million levels deep would keep its own parser busy for a second.
    text: true,
    // One character for each byte: a decoder of the library would repair what is no UTF-8.
    encoding: 'binary',
    textTypes,
    textLimit: longest,
    json: false,
    urlencoded: false,
    multipart: false,
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT],
    onError: (error) => {
      throw bodyProblem(error, longest, malformed);
    },
  });
}

/** A body holds a number that reading would change. */
export class InexactBody extends Problem {
  /** What the body would be with its numbers changed. */
  readonly read: JsonValue;

  constructor(error: string, read: JsonValue) {
    super(400, { error });
    this.read = read;
  }
}

function parsed(binary: string, protoAction: 'error' | 'remove', malformed?: string): JsonValue {
  const text = decoded(binary);
  if (text === null) throw new Problem(400, { error: malformed ?? 'the body is not valid UTF-8' });
  const measure = measureBody(text);
  const fault = jsonFault(measure);
  if (fault !== null) throw new Problem(400, { error: malformed ?? fault });
  let read: JsonValue;
  try {
    read = parse(text, { protoAction }) as JsonValue;
  } catch {
    throw new Problem(400, { error: malformed ?? notJson });
  }
  // Of a body whose keys `__proto__` are dropped no keys are counted.
  const isCounted = protoAction === 'error' || !text.includes('__proto__');
  if (isCounted && hasRepeatedKey(read, measure)) {
    throw new Problem(400, { error: malformed ?? repeatedKey });
  }
  if (measure.inexact === null) return read;
  throw new InexactBody(inexactSentence(measure.inexact), read);
}

/** Decodes the bytes that stand as one character each; `null` for what is no UTF-8. */
function decoded(binary: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(binary, 'binary'));
  } catch {
    return null;
  }
}

const notJson = 'the body is not valid JSON';

/** A compressed body, or one of unknown length, counts as long. */
function expectedLength(ctx: Context): number {
  const isOpen = ctx.get('Transfer-Encoding') !== '' || ctx.get('Content-Encoding') !== '';
  return isOpen ? longestBody : Math.min(ctx.request.length ?? 0, longestBody);
}

function tooMuch(): Problem {
  const error = 'too many long requests are under way; nothing was started, so try again';
  return new Problem(503, { error }, { 'Retry-After': '1', Connection: 'close' });
}

function isEmpty(ctx: Context): boolean {
  return ctx.get('Transfer-Encoding') === '' && (ctx.request.length ?? 0) === 0;
}

function bodyProblem(
  error: Error & { status?: number },
  longest: number,
  malformed = notJson,
): Problem {
  if (error.status === 413) {
    const text = `the body is longer than ${longest} bytes`;
    return new Problem(413, { error: text }, { Connection: 'close' });
  }
  if (error.status === 415) return new Problem(415, { error: 'the content encoding is unknown' });
  return new Problem(400, { error: malformed });
}
