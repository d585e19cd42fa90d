/** How long an issuer may take for one document, in milliseconds. */
export const documentTimeout = 5_000;

const largest = 256 * 1024;

/**
 * Fetches a document of an issuer, and the `Date` it came with: no redirects, at most 256 KiB. Rejects on
 * anything but 200, and with what `fetchIt` throws.
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
  const body: AsyncIterable<Uint8Array<ArrayBuffer>> | null = response.body;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the rest.
    if (size > largest) throw new Error(`${url} answered more than 256 KiB`);
    chunks.push(chunk);
  }
  const date = response.headers.get('date');
  return new Response(new Blob(chunks), { headers: date === null ? {} : { date } });
}
