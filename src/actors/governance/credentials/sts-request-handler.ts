import type { STSClientConfig } from '@aws-sdk/client-sts';

export type StsRequestHandler = Extract<
  NonNullable<STSClientConfig['requestHandler']>,
  { handle: unknown }
>;

/**
 * Creates a request transport that uses a fetch instead of the client's own sockets. Redirects are not followed: the
 * request is signed for one host.
 */
export async function stsRequestHandler(
  fetchIt: typeof globalThis.fetch = globalThis.fetch,
): Promise<StsRequestHandler> {
  const { FetchHttpHandler } = await import('@smithy/fetch-http-handler');
  return new FetchHttpHandler({
    customFetch: async (input) => {
      // Copied field by field, since a fetch may not accept another package's Request; the body is short text.
      const request = input as Request;
      const { url, method, headers, signal } = request;
      const body = await request.text();
      return fetchIt(url, { method, headers, signal, body, redirect: 'manual' });
    },
  });
}
