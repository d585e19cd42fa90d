import { type Dispatcher, request } from 'undici';
import { collectBytes, strictText } from '../../collect-bytes.ts';
import { inClientSpan } from '../../telemetry/telemetry.ts';
import { ProviderUnavailableError } from './provider-unavailable.ts';

/** A request to a provider. */
export interface Question {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Total timeout of the exchange, in milliseconds. */
  timeout: number;
  /** Dispatcher of the request; direct when `undefined`. */
  dispatcher?: Dispatcher | undefined;
}

/** The response of a provider. */
export interface Answer {
  status: number;
  text: string;
}

const largest = 64 * 1024;

/**
 * Sends one request to a provider: no redirects, at most `timeout` from start to last byte, and at most 64 KiB. Rejects
 * with a ProviderUnavailableError that contains neither the URL nor any request data.
 */
export function exchange({ url, timeout, dispatcher, ...options }: Question): Promise<Answer> {
  return inClientSpan({ method: options.method, url }, async () => {
    const late = AbortSignal.timeout(timeout);
    const over = new AbortController();
    try {
      const signal = AbortSignal.any([late, over.signal]);
      const { statusCode, body } = await request(url, {
        ...options,
        ...(dispatcher === undefined ? {} : { dispatcher }),
        signal,
        reset: true,
      });
      return { status: statusCode, text: await readText(body) };
    } catch (error) {
      throw late.aborted ? unavailable(`did not answer in ${timeout} ms`) : providerFault(error);
    } finally {
      // Aborts without waiting for the rest of the response.
      over.abort();
    }
  });
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const tooLong = () => unavailable('answered more than 64 KiB');
  const text = strictText(await collectBytes(body, largest, tooLong));
  if (text === null) throw unavailable('returned invalid UTF-8');
  return text;
}

/** Describes a failed exchange without its cause, which may hold request data. */
function providerFault(error: unknown): ProviderUnavailableError {
  if (error instanceof ProviderUnavailableError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
  return unavailable(`cannot be reached (${code})`);
}

function unavailable(what: string): ProviderUnavailableError {
  return new ProviderUnavailableError(`the provider ${what}`);
}
