import { parse } from '@hapi/bourne';
import type { Context, Middleware, Next } from 'koa';
import { hasRepeatedKey, inexactSentence, repeatedKey } from '../../machines/exact-json.ts';
import type { JsonValue } from '../../machines/json.ts';
import type { RequestState } from '../request-state.ts';
import { jsonFault, measureBody } from '../wire/json-fault.ts';
import { Problem } from '../wire/problem.ts';

/** Maximum size of a body in bytes (docs/contract/transports.md). */
const longestBody = 2 * 1024 * 1024;

/**
 * Reads a JSON body into `ctx.request.body`, which is `undefined` without a body. Throws a Problem: 415 for another
 * type, 503 while too many long bodies are in progress, 413 for a body that is too long, 400 for a body that is
 * malformed, too deeply nested or has too many keys. `malformed` replaces the message of the 400.
 */
export function readJson({
  malformed,
  types = ['application/json'],
  prototypes = 'error',
  longest = longestBody,
}: {
  malformed?: string;
  /** Handling of a key `__proto__`: rejects the body or removes the key. */
  prototypes?: 'error' | 'remove';
  types?: string[];
  /** Maximum size of a body in bytes; defaults to the limit of docs/contract/transports.md. */
  longest?: number;
} = {}): Middleware {
  let reader: Promise<Middleware> | null = null;
  return async function jsonReader(ctx: Context, next: Next) {
    if (isEmpty(ctx)) return void (await next());
    if (ctx.is(types) === false) {
      throw new Problem('unsupported_media_type', 'send the body as application/json');
    }
    const { traffic } = ctx.state as RequestState;
    if (!traffic.receive(ctx.res, expectedLength(ctx))) throw tooMuch();
    reader ??= createReader(types, longest, malformed);
    const read = await reader;
    await read(ctx, () => {
      const { body } = ctx.request as { body?: unknown };
      // Bodies are read only for POST and PUT. A body of unknown length may be empty.
      if (typeof body === 'string' && body !== '')
        ctx.request.body = parsed(body, prototypes, malformed);
      return next();
    });
  };
}

/** Loaded for the first body, because the library takes longer to load than the rest of the HTTP API. */
async function createReader(
  textTypes: string[],
  longest: number,
  malformed?: string,
): Promise<Middleware> {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  return koaBody({
    // Read as text: the library's own parser would take a second for a million nesting levels.
    text: true,
    // One character per byte: the library's decoder would repair invalid UTF-8.
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

/** A body contains a number that parsing would change. */
export class InexactBody extends Problem {
  /** The parsed body with the changed numbers. */
  readonly read: JsonValue;

  constructor(error: string, read: JsonValue) {
    super('invalid_json', error);
    this.read = read;
  }
}

function parsed(binary: string, protoAction: 'error' | 'remove', malformed?: string): JsonValue {
  const text = decoded(binary);
  if (text === null) throw new Problem('invalid_json', malformed ?? 'the body is not valid UTF-8');
  const measure = measureBody(text);
  const fault = jsonFault(measure);
  if (fault !== null) throw new Problem('invalid_json', malformed ?? fault);
  let read: JsonValue;
  try {
    read = parse(text, { protoAction }) as JsonValue;
  } catch {
    throw new Problem('invalid_json', malformed ?? notJson);
  }
  // Keys are not counted in a body from which `__proto__` keys are removed.
  const isCounted = protoAction === 'error' || !text.includes('__proto__');
  if (isCounted && hasRepeatedKey(read, measure)) {
    throw new Problem('invalid_json', malformed ?? repeatedKey);
  }
  if (measure.inexact === null) return read;
  throw new InexactBody(inexactSentence(measure.inexact), read);
}

/** Decodes a binary string as UTF-8; `null` if it is invalid. */
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
  return new Problem('overloaded', error, {}, { 'Retry-After': '1', Connection: 'close' });
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
    return new Problem('body_too_large', text, {}, { Connection: 'close' });
  }
  if (error.status === 415)
    return new Problem('unsupported_media_type', 'the content encoding is unknown');
  return new Problem('invalid_json', malformed);
}
