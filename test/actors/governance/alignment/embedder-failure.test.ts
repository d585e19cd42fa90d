import { APICallError, RetryError } from 'ai';
import { describe, expect, it } from 'vitest';
import { embedderErrorOf } from '../../../../src/actors/governance/alignment/create-embedder.ts';
import { EmbedderError } from '../../../../src/actors/governance/alignment/embedder.ts';

const secret = 'sk-live-0123456789';

function callError(statusCode?: number, cause?: unknown): APICallError {
  return new APICallError({
    ...{ message: secret, url: 'https://embeddings.example.com', requestBodyValues: {}, cause },
    ...(statusCode === undefined ? {} : { statusCode }),
  });
}

async function failureOf(error: unknown): Promise<object> {
  const { name, code, message, cause } = await embedderErrorOf(error);
  expect({ name, cause }).toEqual({ name: 'EmbedderError', cause: undefined });
  return { code, message };
}

function withCode(code: unknown, cause?: unknown): Error {
  return Object.assign(new Error(secret, { cause }), { code });
}

describe('the failure of an embedder', () => {
  it('is kept when it is one of our own', async () => {
    const error = new EmbedderError('missing_key', 'there is no key');
    expect(await embedderErrorOf(error)).toBe(error);
  });

  it.each([
    [199, 'refused', 'the embedder answered with status 199'],
    [200, 'bad_answer', 'the answer of the embedder could not be read'],
    [299, 'bad_answer', 'the answer of the embedder could not be read'],
    [300, 'refused', 'the embedder answered with status 300'],
    [503, 'refused', 'the embedder answered with status 503'],
  ])('names the status %d', async (status, code, message) => {
    expect(await failureOf(callError(status))).toEqual({ code, message });
  });

  it('is that of the last attempt', async () => {
    const errors = [callError(500), callError(429)];
    const error = new RetryError({ message: secret, reason: 'maxRetriesExceeded', errors });
    expect(await failureOf(error)).toEqual({
      code: 'refused',
      message: 'the embedder answered with status 429',
    });
  });

  it.each([new TypeError(secret), secret, undefined])('hides any other: %s', async (error) => {
    expect(await failureOf(error)).toEqual({
      code: 'bad_answer',
      message: 'the answer of the embedder could not be used',
    });
  });

  it.each<[string, unknown, string]>([
    ['of the cause', withCode('ECONNREFUSED'), ' (ECONNREFUSED)'],
    ['of the cause of a cause', new Error('a', { cause: withCode('EPIPE') }), ' (EPIPE)'],
    ['with a code of three letters', withCode('ABC'), ' (ABC)'],
    ['with a code of 41 letters', withCode('A'.repeat(41)), ` (${'A'.repeat(41)})`],
    ['after an invalid code', withCode('x', withCode('EPIPE')), ' (EPIPE)'],
    ['without a code of two letters', withCode('AB'), ''],
    ['without a code of 42 letters', withCode('A'.repeat(42)), ''],
    ['without a code that begins like one', withCode(`EPIPE ${secret}`), ''],
    ['without a code that ends like one', withCode(`${secret} EPIPE`), ''],
    ['without a number', withCode(7), ''],
    ['without a list of codes', withCode(['EPIPE']), ''],
    ['without a cause that is not an error', { code: 'EPIPE' }, ''],
    ['without a missing cause', undefined, ''],
  ])('reports that no server was reached, with the system code %s', async (_, cause, word) => {
    expect(await failureOf(callError(undefined, cause))).toEqual({
      code: 'unreachable',
      message: `the embedder could not be reached${word}`,
    });
  });
});
