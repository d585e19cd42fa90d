import type { STSClientConfig } from '@aws-sdk/client-sts';

/** What carries requests to the token service. */
export type StsRequestHandler = Extract<
  NonNullable<STSClientConfig['requestHandler']>,
  { handle: unknown }
>;

/**
 * Carries requests to the token service through a fetch, where its client would open sockets of its own.
 * A redirect is not followed: the request is signed for one host.
 */
export async function stsRequestHandler(
  fetchIt: typeof globalThis.fetch = globalThis.fetch,
): Promise<StsRequestHandler> {
  const { FetchHttpHandler } = await import('@smithy/fetch-http-handler');
  return new FetchHttpHandler({
    customFetch: async (input) => {
      // Taken apart, as a fetch need not know the Request of another package; the body is a short text.
      const request = input as Request;
      const { url, method, headers, signal } = request;
      const body = await request.text();
      return fetchIt(url, { method, headers, signal, body, redirect: 'manual' });
    },
  });
}
