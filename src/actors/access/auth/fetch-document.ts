import { collectBytes } from '../../collect-bytes.ts';

/** Timeout for fetching one document of an issuer, in milliseconds. */
export const documentTimeout = 5_000;

const largest = 256 * 1024;

/**
 * Fetches a document of an issuer and its `Date` header, without redirects and up to 256 KiB. Rejects on any status but
 * 200, and with the errors of `fetchIt`.
 */
export async function fetchDocument(
  url: string,
  options: RequestInit,
  fetchIt: typeof globalThis.fetch = globalThis.fetch,
): Promise<Response> {
  const response = await fetchIt(url, { ...options, redirect: 'manual' });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}; it must answer 200`);
  }
  const tooLong = () => new Error(`${url} answered more than 256 KiB`);
  const bytes = await collectBytes(response.body, largest, tooLong);
  const date = response.headers.get('date');
  return new Response(bytes, { headers: date === null ? {} : { date } });
}
