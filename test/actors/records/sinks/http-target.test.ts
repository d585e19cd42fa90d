import { describe, expect, it, vi } from 'vitest';
import { httpTarget } from '../../../../src/actors/records/sinks/http-target.ts';

const url = 'https://logs.example.com/audit';
const lines = ['a\n', 'ö\n'].map((line) => Buffer.from(line));
const { signal } = new AbortController();

type Fetch = typeof globalThis.fetch;

function targetThat(
  answers: (init: RequestInit) => Promise<Response>,
  token: string | null = null,
) {
  const fetch = vi.fn<Fetch>((_, init) => answers(init ?? {}));
  return { target: httpTarget({ url, token, timeout: 10_000, fetch }), fetch };
}

const causedBy = (cause: unknown) => new TypeError('fetch failed', { cause });
const coded = (code: unknown) => Object.assign(new Error('with a token'), { code });

describe('a collector of lines', () => {
  it.each([
    [null, { 'content-type': 'application/x-ndjson' }],
    ['t-1', { 'content-type': 'application/x-ndjson', authorization: 'Bearer t-1' }],
  ])('receives lines unchanged, with the token %j', async (token, headers) => {
    const { target, fetch } = targetThat(() => Promise.resolve(new Response()), token);
    await target.connect(signal);
    expect(fetch).not.toHaveBeenCalled();
    await target.deliver(lines, signal);
    expect(fetch.mock.calls).toEqual([
      [
        url,
        {
          method: 'POST',
          headers,
          body: Buffer.from('a\nö\n'),
          redirect: 'error',
          signal: expect.any(AbortSignal),
        },
      ],
    ]);
  });

  it('has its response discarded unread', async () => {
    for (const status of [200, 299, 500]) {
      const response = new Response('a long story', { status });
      const cancelled = vi.spyOn(response.body!, 'cancel');
      const { target } = targetThat(() => Promise.resolve(response));
      await target.deliver(lines, signal).catch(() => undefined);
      expect(cancelled).toHaveBeenCalledOnce();
    }
  });

  it.each([199 + 101, 304, 401, 503])(
    'has not accepted lines when it answers %i',
    async (status) => {
      const { target } = targetThat(() => Promise.resolve(new Response(null, { status })));
      await expect(target.deliver(lines, signal)).rejects.toMatchObject({
        code: 'sink_failed',
        message: `the collector answered with ${status}`,
      });
    },
  );

  it.each<[string, unknown, string]>([
    ['a failure with a code', causedBy(coded('ECONNREFUSED')), 'ECONNREFUSED'],
    ['an immediate code', coded('EPIPE'), 'EPIPE'],
    ['a deeply nested code', causedBy(causedBy(coded('CERT_HAS_EXPIRED'))), 'CERT_HAS_EXPIRED'],
    ['a numeric code', coded(20), 'no answer'],
    ['a failure without a code', causedBy(undefined), 'no answer'],
    ['a value that is no error', 'a text', 'no answer'],
    ['an invalid cause', causedBy({ code: 'EPIPE' }), 'no answer'],
    ['a request that timed out', new DOMException('', 'TimeoutError'), 'timed out'],
    ['an aborted request', new DOMException('', 'AbortError'), 'no answer'],
  ])('that is unreachable is reported without a secret: %s', async (_, cause, reason) => {
    const { target } = targetThat(() => Promise.reject(cause));
    await expect(target.deliver(lines, signal)).rejects.toMatchObject({
      code: 'sink_failed',
      message: `the collector cannot be reached (${reason})`,
      cause,
    });
  });

  it('is not called after the sink stops', async () => {
    const stopping = new AbortController();
    const { target } = targetThat(
      ({ signal: given }) =>
        new Promise((_, reject) => {
          given?.addEventListener('abort', () => reject(given.reason as Error));
        }),
    );
    const delivering = target.deliver(lines, stopping.signal);
    stopping.abort(coded('STOPPED'));
    await expect(delivering).rejects.toThrow('the collector cannot be reached (STOPPED)');
  });

  it('has no connection that could be closed or lost', async () => {
    const { target } = targetThat(() => Promise.resolve(new Response()));
    expect(target.disconnect()).toBeUndefined();
    const first = await Promise.race([target.hungUp().then(() => 'hung up'), settled()]);
    expect(first).toBe('still there');
  });
});

async function settled(): Promise<string> {
  await new Promise((resolve) => setImmediate(resolve));
  return 'still there';
}
